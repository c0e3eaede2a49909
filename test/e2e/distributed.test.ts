/** The services as processes of their own: the same questions as of the one-process form, and what only several processes can get wrong. */

import { afterAll, expect, test } from "@jest/globals";
import { type Distributed, startDistributed } from "../support/distributed.ts";
import { request, until } from "../support/http.ts";
import { type OtlpReceiver, type Span, startOtlpReceiver } from "../support/otlp-receiver.ts";
import { endAll, netfactsJsonWith, netfactsWith, removeFolders, temporaryFolder } from "../support/processes.ts";
import { startRecursiveDns } from "../support/recursive-dns.ts";
import { askEverything, resolverSettings } from "./questions.ts";

let all: Distributed;
let receiver: OtlpReceiver;
/** Of every key that was made. */
const secrets: string[] = [];
const undo: (() => Promise<void>)[] = [];
const home = temporaryFolder();

async function newKey(...options: string[]): Promise<{ id: string; secret: string }> {
  const made = await netfactsJsonWith<{ id: string; secret: string }>(all.env, home, "keys", "create", ...options);
  secrets.push(made.secret);
  return made;
}

askEverything(async () => {
  const dns = await startRecursiveDns();
  undo.push(() => dns.stop());
  receiver = await startOtlpReceiver();
  undo.push(() => receiver.stop());
  all = await startDistributed({
    replicas: { "ip-routing": 2, "gateway-auth-quota": 2 },
    settings: { RESOLVERS: dns.address, ...resolverSettings, ...receiver.env },
  });
  return {
    url: all.gateways[0]?.url ?? "",
    operationsUrl: all.gateways[0]?.operationsUrl ?? "",
    podOperationsUrl: all.services["ip-routing"][0]?.operationsUrl ?? "",
    newKey,
    async changeKey(action, id) {
      const { code, err } = await netfactsWith(all.env, home, "keys", action, id);
      if (code !== 0) throw new Error(err);
    },
    dns,
    log: async () => all.logs(),
    stop: () => all.stop(),
  };
});
afterAll(async () => {
  await endAll();
  for (const step of undo.reverse()) await step();
  removeFolders();
});

test("both processes of a service take questions", async () => {
  for (const { operationsUrl } of all.services["ip-routing"]) {
    const { text } = await request(`${operationsUrl}/metrics`);
    expect(Number(/^netfacts_items_served_total\{[^}]*lane="single"[^}]*\} (\d+)/m.exec(text)?.[1])).toBeGreaterThan(0);
  }
});

test("every gateway knows a key, its change and what is left of its month", async () => {
  const { id, secret } = await newKey("--label", "both", "--month", "5");
  const ask = (gateway: number) => request(`${all.gateways[gateway]?.url}/api/v1/ip/193.0.6.139`, { key: secret });
  const statuses: number[] = [];
  for (let count = 0; count < 10; count++) statuses.push((await ask(count % 2)).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(5);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
  await netfactsWith(all.env, home, "keys", "revoke", id);
  // Ten times what is promised for the middle of several changes, which are made elsewhere.
  for (const gateway of [0, 1]) await until(async () => (await ask(gateway)).status === 401, { timeoutMs: 10_000 });
});

test("one trace leads from HTTP over NATS to the process that answered, and to the database", async () => {
  const { secret } = await newKey("--label", "traced");
  const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  const caller = "00f067aa0ba902b7";
  const headers = { traceparent: `00-${traceId}-${caller}-01` };
  const { status } = await request(`${all.gateways[1]?.url}/api/v1/ip/193.0.6.139`, { key: secret, headers });
  expect(status).toBe(200);

  const is = (service: string, kind: Span["kind"], name: string) => (span: Span) =>
    span.service === service && span.kind === kind && span.name === name;
  const steps = [
    is("ip-routing", "server", "ip-routing/ip"),
    is("gateway-auth-quota", "client", "ip-routing/ip"),
    is("gateway-auth-quota", "server", "GET /api/v1/ip/:ip"),
  ];
  const keyRead = is("gateway-auth-quota", "client", "find keys");
  const spans = await receiver.waitForTrace(traceId, (found) => [...steps, keyRead].every((step) => found.some(step)));
  const above = (span: Span | undefined): Span[] =>
    span === undefined ? [] : [span, ...above(spans.find(({ spanId }) => spanId === span.parentSpanId))];

  const path = above(spans.find(steps[0] as (span: Span) => boolean));
  // One step apart: the answer's parent is the question, and no other of the same name.
  expect(path.slice(0, 2).map(({ service, kind }) => `${service} ${kind}`)).toEqual(["ip-routing server", "gateway-auth-quota client"]);
  expect(path.at(-1)).toMatchObject({ name: "GET /api/v1/ip/:ip", parentSpanId: caller });
  expect(above(spans.find(keyRead)).at(-1)).toMatchObject({ name: "GET /api/v1/ip/:ip", parentSpanId: caller });
  expect(spans.filter(({ isError }) => isError)).toEqual([]);
});

test("no key is in a log line, a metric or a span of any process, from its start to its end", async () => {
  const metrics = await Promise.all(all.processes.map(async ({ operationsUrl }) => (await request(`${operationsUrl}/metrics`)).text));
  await all.stop();
  const logs = all.logs();
  for (const { service } of all.processes) expect(logs).toContain(`"service":"${service}"`);
  expect(secrets.length).toBeGreaterThan(10);
  // What may be told of a key is there: its id.
  expect(logs).toContain(secrets[0]?.slice(8, 16));
  const told = [logs, ...metrics, ...receiver.bodies.map(String), all.nats.log()];
  for (const secret of secrets) for (const text of told) expect(text.includes(secret.slice(17))).toBe(false);
});
