/** The load and the judge of `make test-cluster`: they see what fails, what is wrong, and what no policy permits. */

import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "@jest/globals";
import { ConstantLoad } from "../cluster/support/constant-load.ts";
import { judge, type Peer, rulesOf } from "../cluster/support/policies.ts";
import { until } from "../support/http.ts";

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

async function loadOn(answer: RequestListener): Promise<ConstantLoad> {
  server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const questions = [{ path: "/true", isTrue: (record: { of: string }) => record.of === "/true" }];
  return new ConstantLoad({ url: `http://127.0.0.1:${port}`, key: "none", questions, perSecond: 50 });
}

test("a record of something else is wrong, a refusal and a broken connection failed", async () => {
  const answers: RequestListener[] = [
    ({ url }, response) => response.end(JSON.stringify({ of: url })),
    (_, response) => response.end('{"of":"/other"}'),
    (_, response) => response.end("no JSON"),
    (_, response) => response.writeHead(503).end("{}"),
    (_, response) => response.writeHead(503).end('{"code":"limits_unavailable"}'),
    ({ socket }) => socket.destroy(),
  ];
  let turn = 0;
  const load = await loadOn((request, response) => answers[turn++ % answers.length]?.(request, response));
  const result = await load.during("all kinds", () => until(() => turn >= 24), 0);
  await load.stop();
  expect(result.requests).toBeGreaterThanOrEqual(15);
  expect(result.wrong).toBeGreaterThanOrEqual(4);
  expect(result.databaseLate).toBeGreaterThanOrEqual(3);
  expect(result.failed - result.databaseLate).toBeGreaterThanOrEqual(4);
  expect(result.wrong + result.failed).toBeLessThan(result.requests);
  expect(result.recovered).toBe(false);
  expect(result.faults.join("\n")).toMatch(/503.*\n|socket hang up/);
});

test("an event that ends well lasts until two seconds passed without a fault", async () => {
  const began = performance.now();
  let refused = 0;
  const load = await loadOn(({ url }, response) => {
    if (refused++ < 10) response.writeHead(503);
    response.end(JSON.stringify({ of: url }));
  });
  const result = await load.during("a short outage", async () => undefined);
  await load.stop();
  expect(result).toMatchObject({ failed: 10, wrong: 0, recovered: true });
  expect(result.secondsToRecover).toBeGreaterThan(0);
  expect(performance.now() - began).toBeGreaterThan(2_000);
});

test("an event is not over while requests hang", async () => {
  let asked = 0;
  const load = await loadOn(({ url }, response) => {
    const answer = () => response.end(JSON.stringify({ of: url }));
    if (asked++ < 10) setTimeout(answer, 5_000);
    else answer();
  });
  const result = await load.during("late answers", async () => undefined, 2_500);
  await load.stop();
  expect(result).toMatchObject({ failed: 0, wrong: 0, recovered: false });
});

const labelsOf = (component: string) => ({ app: "facts", component });
const peers = new Map<string, Peer>(
  Object.entries({ "10.0.0.1": "gateway", "10.0.0.2": "ingest", "10.0.0.3": "test" }).map(([address, name]) => [
    address,
    { name, namespace: "own", labels: labelsOf(name) },
  ]),
);
const policy = (name: string, spec: object) => ({ metadata: { name, namespace: "own" }, spec });
const ofAll = { matchLabels: { app: "facts" } };
const policies = [
  policy("default-deny", { podSelector: ofAll, policyTypes: ["Ingress", "Egress"] }),
  policy("to-ingest", {
    podSelector: { matchLabels: labelsOf("ingest") },
    policyTypes: ["Ingress"],
    ingress: [{ from: [{ podSelector: { matchLabels: labelsOf("gateway") } }], ports: [{ port: 8090 }] }],
  }),
  policy("to-database", {
    podSelector: { ...ofAll, matchExpressions: [{ key: "component", operator: "NotIn", values: ["test"] }] },
    policyTypes: ["Egress"],
    egress: [{ ports: [{ port: 8090 }, { port: 27017 }] }],
  }),
];
const verdict = (from: string, to: string, port: number, protocol: "TCP" | "UDP" = "TCP") =>
  judge({ from, to, port, protocol }, policies, peers);

test("a flow needs a rule at each end that is a pod, with its port and protocol", () => {
  expect(verdict("10.0.0.1", "10.0.0.2", 8090)).toEqual({
    permitted: true,
    rules: ["to-database: Egress TCP 8090", "to-ingest: Ingress TCP 8090"],
  });
  expect(verdict("10.0.0.1", "192.0.2.1", 27017).permitted).toBe(true);
  expect(verdict("10.0.0.2", "10.0.0.2", 8090).permitted).toBe(false);
  expect(verdict("10.0.0.3", "192.0.2.1", 27017).permitted).toBe(false);
  expect(verdict("192.0.2.1", "10.0.0.2", 8090).permitted).toBe(false);
  expect(verdict("10.0.0.1", "192.0.2.1", 27017, "UDP").permitted).toBe(false);
  expect(verdict("10.0.0.1", "192.0.2.1", 4222).permitted).toBe(false);
  // Without a policy for its ends, everything may pass.
  expect(verdict("192.0.2.1", "192.0.2.2", 1)).toEqual({ permitted: true, rules: [] });
});

test("every rule has a name", () => {
  expect(rulesOf(policies)).toEqual(["to-ingest: Ingress TCP 8090", "to-database: Egress TCP 8090", "to-database: Egress TCP 27017"]);
});
