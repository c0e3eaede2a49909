/**
 * A change made at one gateway reaches another one: over NATS within a second, and without it within two seconds, though a cached key lives for thirty.
 *
 * @alone It asserts deadlines.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import { createNatsMessaging } from "@netfacts/messaging/nats";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { openSqliteStore } from "@netfacts/storage";
import { openMongoStore } from "@netfacts/storage/mongo";
import { Value } from "typebox/value";
import { type Mongodb, startMongodb } from "../../../../test/support/mongodb.ts";
import { type NatsServer, startNatsServer } from "../../../../test/support/nats-server.ts";
import { startTcpProxy } from "../../../../test/support/tcp-proxy.ts";
import { buildApp, type Gateway, type GatewayConfig, gatewayConfig, gatewayConfigSchema } from "../../src/app.ts";

/** How old a key may be that no broadcast can tell of. */
const blindMs = 2_000;

let nats: NatsServer;
let mongo: Mongodb;
let database: string;
const ends: (() => Promise<void>)[] = [];
let changing: Gateway;
let answering: Gateway;
let adminKey: string;

beforeAll(async () => {
  [nats, mongo] = await Promise.all([startNatsServer({ own: true }), startMongodb()]);
  database = mongo.database(`broadcast_${randomUUID().slice(0, 8)}`);
  changing = await start(nats.url, { OPERATOR_PORT: 0 });
  answering = await start(nats.url, {});
  const store = await openMongoStore(database);
  adminKey = (await createKey(store, { label: "operator", scopes: ["admin"], rate: { limit: 100_000, windowSeconds: 60 } })).secret;
  await store.close();
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await Promise.all([nats?.stop(), mongo?.stop()]);
});

async function start(servers: string, config: Partial<GatewayConfig>): Promise<Gateway> {
  const messaging = await createNatsMessaging({ servers, name: "gateway" });
  const store = await openMongoStore(database);
  // Leases are not what is tried here, and a request waits for them no longer than 250 ms.
  const leases = await openSqliteStore(":memory:");
  const gateway = await buildApp({
    config: {
      ...gatewayConfig(Value.Default(gatewayConfigSchema, {}) as Parameters<typeof gatewayConfig>[0]),
      PORT: 0,
      DRAIN_SECONDS: 0,
      ...config,
    },
    messaging,
    store: { ...store, limits: leases.limits, usage: leases.usage },
    log: { info() {}, warn() {}, error() {} },
    metrics: createMetrics("gateway-auth-quota", createRegistry()),
    clock: { now: Date.now },
  });
  await gateway.listen();
  ends.push(
    () => store.close(),
    () => leases.close(),
    () => messaging.close(),
    () => gateway.stop(),
  );
  return gateway;
}

/** Repeated while the store is too slow for its deadlines: each change comes to the same when it is made twice. */
async function change(method: "POST" | "PUT", path: string, body: object = {}, at: Gateway = changing): Promise<Record<string, string>> {
  const answer = await fetch(`${at.operator?.listeningOrigin}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (answer.status === 503) {
    await sleep(50);
    return change(method, path, body, at);
  }
  if (answer.status >= 300) throw new Error(text);
  return JSON.parse(text) as Record<string, string>;
}

/** What the other gateway says of the key: its status (404 where the key may: there is no such route), and its month. */
async function seen(secret: string): Promise<string> {
  const answer = await answering.http.inject({ url: "/api/v1/nothing", headers: { authorization: `Bearer ${secret}` } });
  // The store was too slow for the deadline of reading a key.
  if (answer.statusCode === 503) {
    await sleep(5);
    return seen(secret);
  }
  return `${answer.statusCode} ${answer.headers["x-quota-limit"] ?? "none"}`;
}

/** From the end of a change to the first answer that shows it. */
async function delayOf(secret: string, wanted: string, make: () => Promise<unknown>): Promise<number> {
  await make();
  const since = performance.now();
  while ((await seen(secret)) !== wanted && performance.now() - since < 30_000) await sleep(5);
  return performance.now() - since;
}

function expectWithinASecond(delays: number[]): void {
  delays.sort((a, b) => a - b);
  expect(delays[5]).toBeLessThan(1_000);
  expect(delays[9]).toBeLessThan(10_000);
}

const wide = { rate: { limit: 100_000, window_seconds: 60 } };
const makeKey = (spec: object = {}) =>
  change("POST", "/keys", { label: "a", scopes: ["ip"], ...wide, ...spec }) as Promise<{ id: string; secret: string }>;

test("a key's state reaches the other gateway within a second: median of ten, each within ten", async () => {
  const { id, secret } = await makeKey({ month: { limit: 9 } });
  const delays: number[] = [];
  for (let i = 0; i < 10; i++) {
    const disable = i % 2 === 0;
    expect(await seen(secret)).toBe(disable ? "404 9" : "403 none");
    delays.push(
      await delayOf(secret, disable ? "403 none" : "404 9", () => change("POST", `/keys/${id}/${disable ? "disable" : "enable"}`)),
    );
  }
  expectWithinASecond(delays);
});

test("a plan's limits reach its keys at the other gateway within a second: median of ten, each within ten", async () => {
  await change("PUT", "/plans/team", { ...wide, month: { limit: 1_000 } });
  const { secret } = await makeKey({ plan: "team" });
  const delays: number[] = [];
  for (let month = 1_001; month <= 1_010; month++) {
    expect(await seen(secret)).toBe(`404 ${month - 1}`);
    delays.push(await delayOf(secret, `404 ${month}`, () => change("PUT", "/plans/team", { ...wide, month: { limit: month } })));
  }
  expectWithinASecond(delays);
});

test("a successor works at once where its id was unknown", async () => {
  const { id, secret } = await makeKey();
  expect(await seen(secret)).toMatch(/^404 /);
  const successor = (await change("POST", `/keys/${id}/rotate`, { overlap_seconds: 0 })) as { secret: string };
  const since = performance.now();
  while ((await seen(secret)) !== "401 none" && performance.now() - since < 10_000) await sleep(5);
  expect(performance.now() - since).toBeLessThan(10_000);
  expect(await seen(successor.secret)).toMatch(/^404 /);
});

test("with NATS frozen, a revoked key serves no longer than keys may be old that no broadcast can tell of", async () => {
  const { id, secret } = await makeKey();
  expect(await seen(secret)).toMatch(/^404 /);
  // Connections look as if they were up, and nothing comes.
  nats.freeze();
  const delay = await delayOf(secret, "401 none", () => change("POST", `/keys/${id}/revoke`));
  nats.thaw();
  // Where it is far from zero, the cut was one.
  expect(delay).toBeGreaterThan(100);
  expect(delay).toBeLessThan(blindMs + 3_000);
});

test("what changes while the changing gateway has no NATS is told when it is back", async () => {
  const own = await startTcpProxy(nats.url);
  ends.push(() => own.stop());
  const teller = await start(own.url, { OPERATOR_PORT: 0 });
  const { id, secret } = await makeKey();
  expect(await seen(secret)).toMatch(/^404 /);
  await own.cut();
  const delay = await delayOf(secret, "401 none", async () => {
    await change("POST", `/keys/${id}/revoke`, {}, teller);
    await own.restore();
  });
  expect(delay).toBeLessThan(20_000);
});

test("while a publisher announces changes without end, other keys are answered, and a revoked key is refused within a second", async () => {
  const [revoked, other] = await Promise.all([makeKey(), makeKey()]);
  for (const { secret } of [revoked, other]) expect(await seen(secret)).toMatch(/^404 /);
  const rogue = await createNatsMessaging({ servers: nats.url, name: "rogue" });
  let sent = 0;
  const storm = setInterval(() => {
    for (let burst = 0; burst < 50; burst++)
      rogue.publish("keys.changed", [{ plan: "x", version: 1 }, { key_id: `0000${sent}`, version: 1 }, {}][sent++ % 3]);
  }, 5);
  try {
    await sleep(1_000);
    const statuses = new Set<number>();
    for (let asked = 0; asked < 50; asked++) {
      const answer = await answering.http.inject({ url: "/api/v1/nothing", headers: { authorization: `Bearer ${other.secret}` } });
      statuses.add(answer.statusCode);
      await sleep(10);
    }
    expect([...statuses]).toEqual([404]);
    expect(await delayOf(revoked.secret, "401 none", () => change("POST", `/keys/${revoked.id}/revoke`))).toBeLessThan(1_000);
    expect(sent).toBeGreaterThan(2_000);
  } finally {
    clearInterval(storm);
    await rogue.close();
  }
});
