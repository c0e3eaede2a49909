/** One log line and one measurement per request. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { until } from "../../../../test/support/http.ts";
import { exampleReply, type Harness, startGateway } from "../support/gateway.ts";
import { openSocket } from "../support/raw.ts";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

let harness: Harness;
beforeAll(async () => {
  harness = await startGateway();
});
afterAll(() => harness.stop());

function lineOf(requestId: string) {
  const lines = harness.log.filter(({ fields }) => fields.request_id === requestId);
  expect(lines).toHaveLength(1);
  return lines[0]?.fields;
}

test("failures are counted from 0, so that a rate sees the first one", async () => {
  const text = await harness.registry.text();
  for (const series of [
    'netfacts_http_requests_total{route="/api/v1/ip/:ip",status="503"',
    'netfacts_http_requests_total{route="/api/v1/batch",status="504"',
    'netfacts_key_loads_total{outcome="failed"',
    'netfacts_usage_writes_total{outcome="failed"',
    'netfacts_limit_decisions_total{decision="limits_unavailable"',
    'netfacts_shortages_total{resource="connections",reason="full"',
    'netfacts_shortages_total{resource="batches",reason="full"',
    'netfacts_limit_debt_units_total{event="written_off",policy="rate"',
    'netfacts_limit_debt_units_total{event="written_off",policy="month"',
  ])
    expect(text).toContain(`${series},service="gateway-auth-quota"} 0\n`);
});

test("a line tells who asked what by which route, and how it ended", async () => {
  const key = await harness.key();
  await harness.request("GET", "/api/v1/asn/AS3333?limit=5", { authorization: `Bearer ${key}`, "x-request-id": "line-1" });
  expect(lineOf("line-1")).toEqual({
    request_id: "line-1",
    method: "GET",
    url: "/api/v1/asn/AS3333?limit=5",
    route: "/api/v1/asn/:asn",
    status: 200,
    duration_ms: expect.any(Number),
    client: "127.0.0.1",
    key: `nf_live_${key.slice(8, 16)}_…${key.slice(-4)}`,
  });
});

test("a prefix whose slash is encoded has the route of the prefix", async () => {
  const authorization = `Bearer ${await harness.key()}`;
  for (const [path, route] of [
    ["/api/v1/prefix/193.0.0.0%2F21", "/api/v1/prefix/:network/:length"],
    ["/api/v1/changes/193.0.0.0%2F21", "/api/v1/changes/:network/:length"],
  ] as const) {
    for (const [method, id] of [
      ["GET", `get ${route}`],
      ["DELETE", `delete ${route}`],
    ] as const) {
      const requestId = id.replaceAll(/[^a-z]/g, "-");
      await harness.request(method, path, { authorization, "x-request-id": requestId });
      expect(lineOf(requestId)).toMatchObject({ route });
    }
  }
  expect(await harness.registry.text()).not.toContain("^");
});

test("a refused request has its line too, whoever refused it", async () => {
  await harness.request("GET", "/api/v1/me", { "x-request-id": "line-2" });
  expect(lineOf("line-2")).toMatchObject({ status: 401, code: "missing_api_key", route: "/api/v1/me" });
  await harness.request("GET", "/nowhere", { "x-request-id": "line-3" });
  expect(lineOf("line-3")).toMatchObject({ status: 404, code: "route_not_found", route: "none" });
  await harness.request("GET", "/api/v1/ip/%zz", { "x-request-id": "line-4" });
  expect(lineOf("line-4")).toMatchObject({ status: 400, code: "bad_request", route: "none", client: "127.0.0.1" });
  await harness.request("DELETE", "/api/v1/asn/3333?a=1", { "x-request-id": "line-405" });
  expect(lineOf("line-405")).toMatchObject({ status: 405, code: "method_not_allowed", route: "/api/v1/asn/:asn" });
});

test("a client that goes away ends its request, and is counted once", async () => {
  const inFlight = async () => Number(/netfacts_http_requests_in_flight\{[^}]*\} (\d+)/.exec(await harness.registry.text())?.[1]);
  const key = await harness.key();
  let release = () => {};
  const asked = new Promise<void>((resolve) => {
    harness.answers.set("ip", () => {
      resolve();
      return new Promise((done) => {
        release = () => done(exampleReply("ip"));
      });
    });
  });
  const socket = await openSocket(await harness.gateway.listen());
  socket.write(`GET /api/v1/ip/193.0.6.139 HTTP/1.1\r\nHost: x\r\nX-Request-Id: line-5\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await asked;
  expect(await inFlight()).toBe(1);
  socket.destroy();
  await until(async () => (await inFlight()) === 0);
  release();
  await pause(50);
  expect(await inFlight()).toBe(0);
  expect(lineOf("line-5")).toMatchObject({ route: "/api/v1/ip/:ip", status: "aborted" });
  harness.answers.delete("ip");
});

test("HEAD and GET over a real connection differ in the body only", async () => {
  const url = harness.gateway.http.listeningOrigin;
  const authorization = `Bearer ${await harness.key()}`;
  const ask = (method: string) =>
    fetch(`${url}/api/v1/ip/193.0.6.139`, { method, headers: { authorization, "accept-encoding": "identity" } });
  const [get, head] = [await ask("GET"), await ask("HEAD")];
  expect(await head.text()).toBe("");
  expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(await get.text())));
  expect(head.headers.get("etag")).toBe(get.headers.get("etag"));
});

test("metrics count by the pattern of the route, never by what was asked", async () => {
  await harness.get("/api/v1/ip/192.0.2.77");
  await harness.request("GET", "/no/such/192.0.2.78");
  const text = await harness.registry.text();
  expect(text).toMatch(/netfacts_http_requests_total\{[^}]*route="\/api\/v1\/ip\/:ip"[^}]*status="200"[^}]*\} \d/);
  expect(text).toMatch(/netfacts_http_request_duration_seconds_bucket\{/);
  expect(text).toMatch(/netfacts_http_requests_in_flight\{[^}]*\} 0/);
  expect(text).toMatch(/netfacts_key_verifications_total\{[^}]*outcome="missing_api_key"/);
  expect(text).toMatch(/netfacts_key_loads_total\{[^}]*outcome="found"[^}]*\} \d/);
  expect(text).toMatch(/netfacts_limit_decisions_total\{[^}]*decision="admitted"/);
  expect(text).not.toContain("192.0.2.7");
});
