/** 404, 405, 406: no such route, not for this method, not in this format. */

import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Harness, startGateway } from "../support/gateway.ts";
import { expectProblem, provokes } from "../support/provokes.ts";
import { exchange } from "../support/raw.ts";

let harness: Harness;
let base: string;
beforeAll(async () => {
  harness = await startGateway();
  base = await harness.gateway.listen();
});
afterAll(() => harness.stop());

describe("404", () => {
  for (const path of [
    "/api/v1/nowhere",
    "/api/v1/ip",
    "/api/v1/ip/1.2.3.4/x",
    "/API/v1/me",
    "/api/v1/me/",
    "/api/v2/me",
    "/flags/xx.svg",
    "/flags/NL.svg",
    "/flags/nl",
    "/metrics",
    "/healthz",
    "//api/v1/me",
  ]) {
    provokes("route_not_found", `${path}, without a key`, () => harness.request("GET", path));
  }
  test("the detail says where the routes are listed", async () => {
    expect(expectProblem(await harness.get("/api/v1/nowhere"), "route_not_found").detail).toContain("/docs/reference");
  });
  provokes("route_not_found", "with any method", () => harness.request("POST", "/api/v1/nowhere"));

  test.each([
    ["/api/v1/ip/8.8.8.0/24", "/api/v1/prefix/8.8.8.0/24"],
    ["/api/v1/routing/8.8.8.8/24?limit=1", "/api/v1/prefix/8.8.8.0/24"],
    ["/api/v1/ip/2001:db8::/32", "/api/v1/prefix/2001:db8::/32"],
    ["/api/v1/ip/8.8.8.8/", "/api/v1/ip/8.8.8.8"],
    ["/api/v1/me/", "/api/v1/me"],
    ["/api/v1/batch/", "/api/v1/batch"],
    ["//api//v1/me", "/api/v1/me"],
    ["/API/v1/me", "/api/v1/me"],
    ["/ip/8.8.8.8", "/api/v1/ip/8.8.8.8"],
    ["/v1/as/3333", "/api/v1/asn/3333"],
    ["/api/v1/reverse_dns/8.8.8.8", "/api/v1/reverse-dns/8.8.8.8"],
    ["/api/v1/validity/AS3333/193.0.0.0/21", "/api/v1/validity?asn=AS3333&prefix=193.0.0.0/21"],
    ["/api/v1/validity/3333/193.0.6.139/21", "/api/v1/validity?asn=3333&prefix=193.0.0.0/21"],
    ["/v1/validity/AS1.10/2001:db8::/32", "/api/v1/validity?asn=AS1.10&prefix=2001:db8::/32"],
    ["/api/v1/validity/AS3333/193.0.0.0%2F21", "/api/v1/validity?asn=AS3333&prefix=193.0.0.0/21"],
    ["/v1/prefix/193.0.0.0%2f21", "/api/v1/prefix/193.0.0.0/21"],
    ["/v1/prefix/193.0.0.0%252F21", null],
    ["/8.8.8.8", "/api/v1/ip/8.8.8.8"],
    ["/2001:db8::1/", "/api/v1/ip/2001:db8::1"],
    ["/AS3333", "/api/v1/asn/AS3333"],
    ["/193.0.0.0/21", "/api/v1/prefix/193.0.0.0/21"],
    ["/api/v1/2001:db8::1/32", "/api/v1/prefix/2001:db8::/32"],
    ["/api/v1/AS3333", "/api/v1/asn/AS3333"],
    ["/asn/3333/prefixes", "/api/v1/asn/3333?fields=prefixes"],
    ["/api/v1/asn/AS3333/prefixes", "/api/v1/asn/AS3333?fields=prefixes"],
    ["/api/v1/as/3333/peers", "/api/v1/asn/3333?fields=neighbours"],
    ["/api/v1/asn/3333/roas", "/api/v1/vrps/3333"],
    ["/api/v1/asn/3333/changes", "/api/v1/changes/3333"],
    ["/ip/193.0.6.139/routing", "/api/v1/routing/193.0.6.139"],
    ["/api/v1/ip/2001:db8::1/rdns", "/api/v1/reverse-dns/2001:db8::1"],
    ["/rdns/193.0.6.139", "/api/v1/reverse-dns/193.0.6.139"],
    ["/api/v1/PTR/193.0.6.139/", "/api/v1/reverse-dns/193.0.6.139"],
    ["/api/v1/roas/3333", "/api/v1/vrps/3333"],
    ["/v1/network/193.0.0.0/21", "/api/v1/prefix/193.0.0.0/21"],
    ["/api/v1/asn/x/prefixes", null],
    ["/api/v1/asn/3333/constructor", null],
    ["/api/v1/ip/AS3333/routing", null],
    ["/constructor/3333", null],
    ["/AS4294967296", null],
    ["/3333", null],
    ["/api/v1/validity/AS3333/193.0.0.0", null],
    ["/api/v1/validity/x/193.0.0.0/21", null],
    ["/api/v1/validity/AS3333/193.0.0.0/33", null],
    ["/api/v1/ip/8.8.8.8/x", null],
    ["/api/v1/ip", null],
    ["/nowhere", null],
    ["/api/v1/ip/<script>/", null],
    ["/api/v1/ip/nf_live_E1VTQ2GB_4FCkSGff43wsD9ZePrDPedr7BqxcR0XU0zpU7g/", null],
    [`/api/v1/ip/${"1".repeat(300)}/`, null],
  ])("%s was meant to be %s", async (path, meant) => {
    const answer = await harness.request("GET", path);
    expectProblem(answer, "route_not_found");
    const { errors } = JSON.parse(answer.body);
    expect(errors).toEqual(meant === null ? undefined : [expect.objectContaining({ location: "path", suggestion: meant })]);
  });

  test("route_not_found: with a key the rate is charged", async () => {
    const answer = await harness.get("/api/v1/nowhere");
    expectProblem(answer, "route_not_found");
    expect(answer.headers["x-ratelimit-remaining"]).toBeDefined();
  });
});

describe("405", () => {
  for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "QUERY"]) {
    provokes("method_not_allowed", method, async () => {
      const answer = await harness.request(method, "/api/v1/ip/193.0.6.139");
      expect(answer.headers.allow).toBe("GET, HEAD");
      return answer;
    });
  }
  provokes("method_not_allowed", "at open routes", () => harness.request("POST", "/flags/nl.svg"));

  test("method_not_allowed: the body is neither read nor judged, and the connection ends", async () => {
    const head = "POST /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{broken";
    const [answer] = await exchange(base, head);
    if (answer === undefined) throw new Error("no answer");
    expectProblem(answer, "method_not_allowed");
    expect(answer.headers.connection).toBe("close");
  });
});

describe("406", () => {
  for (const accept of ["text/csv", "application/json;q=0", "application/*;q=0, */*", "image/*", "text/html, application/xml"]) {
    provokes("not_acceptable", accept, () => harness.get("/api/v1/ip/193.0.6.139", { accept }));
  }
  for (const accept of ["application/xml", "text/html", "text/*;q=0, application/*;q=0", "application/json;q=0, */*;q=0"]) {
    provokes("not_acceptable", `${accept} for a list`, () => harness.get("/api/v1/asn/3333", { accept }));
  }
  test.each([
    ["/api/v1/me", "application/json"],
    ["/api/v1/batch", "application/json, application/x-ndjson"],
  ])("%s names what it returns instead", async (path, types) => {
    const authorization = `Bearer ${await harness.key({ scopes: ["batch"] })}`;
    const headers = { accept: "image/png", authorization, "content-type": "application/json" };
    const answer = await harness.request(path === "/api/v1/batch" ? "POST" : "GET", path, headers);
    expect(expectProblem(answer, "not_acceptable").detail).toBe(`This route returns ${types}.`);
  });
  test.each(["", ",", " , ,"])("a list of nothing accepts anything: %j", async (accept) => {
    expect((await harness.get("/api/v1/ip/193.0.6.139", { accept })).status).toBe(200);
  });
  provokes("not_acceptable", "at /me", () => harness.get("/api/v1/me", { accept: "text/csv" }));
  provokes("not_acceptable", "at /status", () => harness.request("GET", "/api/v1/status", { accept: "text/csv" }));

  test("format=json is stronger than Accept at /me and /status too, and no other format is there", async () => {
    for (const route of ["/api/v1/me", "/api/v1/status"]) {
      expect((await harness.get(`${route}?format=json`, { accept: "text/csv" })).status).toBe(200);
      expectProblem(await harness.get(`${route}?format=csv`), "invalid_parameter");
    }
  });

  test("whatever leaves JSON acceptable is answered", async () => {
    const headers = [
      "*/*",
      "application/json",
      "application/*",
      "text/html,application/xhtml+xml,*/*;q=0.1",
      "APPLICATION/JSON",
      "",
      "*/*;q=0, application/json",
    ];
    for (const accept of headers) expect([accept, (await harness.get("/api/v1/ip/193.0.6.139", { accept })).status]).toEqual([accept, 200]);
  });
});
