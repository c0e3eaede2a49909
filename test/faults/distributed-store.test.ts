/**
 * MongoDB and connections under load: its server stops, freezes and is killed; connections to it and to NATS are cut, delayed and half-closed. No
 * acknowledged key is lost.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ProblemCode } from "@netfacts/contracts";
import { createKey } from "@netfacts/keys";
import { StoreError } from "@netfacts/storage";
import { request } from "../support/http.ts";
import { type Fault, hasMet } from "./fault-load.ts";
import { expectMet, type FaultyWorld, startFaultyWorld } from "./faulty-world.ts";

let world: FaultyWorld;
const patienceMs = 30_000;
/** Keys whose creation was acknowledged. */
const secrets: string[] = [];
let creating = true;
let creation: Promise<void> = Promise.resolve();

beforeAll(async () => {
  world = await startFaultyWorld({
    replicas: { "gateway-auth-quota": 2, "ip-routing": 2, "asn-prefix": 1, "rdns-resolver": 1 },
    durable: true,
  });
  creation = createKeys();
});
afterAll(async () => {
  creating = false;
  await creation;
  await world?.stop();
});

/** One after the other, through all faults. */
async function createKeys(): Promise<void> {
  while (creating) {
    try {
      secrets.push((await createKey(world.store, { label: `key ${secrets.length}`, scopes: ["ip"] })).secret);
    } catch (error) {
      // Not acknowledged: it may be there or not.
      if (!(error instanceof StoreError)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// The second where no key may be answered from the cache, as on a machine so busy that NATS seems to be away too.
const problems: readonly ProblemCode[] = ["limits_unavailable", "upstream_unavailable"];
/** Longer than leases last: no new one is to be had. */
const away = { problems, lastsMs: 3_000, meets: problems };
const withoutNats: readonly ProblemCode[] = ["upstream_unavailable", "upstream_timeout", "temporarily_overloaded"];
const faults: readonly Fault[] = [
  {
    name: "MongoDB's server stopped and restarted",
    ...away,
    make: () => world.distributed.mongo.halt(),
    mend: () => world.distributed.mongo.restart(),
  },
  {
    name: "MongoDB's server frozen and thawed",
    ...away,
    make: () => world.distributed.mongo.freeze(),
    mend: () => world.distributed.mongo.thaw(),
  },
  {
    name: "MongoDB's server killed (kill -9), restarted",
    ...away,
    make: () => world.distributed.mongo.kill(),
    mend: () => world.distributed.mongo.restart(),
  },
  { name: "connections to MongoDB cut and refused", ...away, make: () => world.mongo.cut(), mend: () => world.mongo.restore() },
  { name: "connections to MongoDB delayed by 150 ms", problems, make: () => world.mongo.delay(150), mend: () => world.mongo.restore() },
  { name: "connections to MongoDB half-closed", problems, lastsMs: 500, make: () => world.mongo.halfClose(), mend: () => undefined },
  { name: "connections to NATS cut and refused", problems: withoutNats, make: () => world.nats.cut(), mend: () => world.nats.restore() },
  {
    name: "connections to NATS delayed by 150 ms",
    problems: withoutNats,
    make: () => world.nats.delay(150),
    mend: () => world.nats.restore(),
  },
  {
    name: "connections to NATS half-closed",
    problems: withoutNats,
    lastsMs: 500,
    make: () => world.nats.halfClose(),
    mend: () => undefined,
  },
];

test.each(faults)("$name: right answers or documented problems, and well again by itself", async (fault) => {
  const tally = await world.load.meet(fault);
  expectMet(tally);
  if (fault.meets !== undefined) expect(hasMet(tally, fault.meets)).toBe(true);
});

test("nothing was wrong, hung or over-admitted, and no key is lost", async () => {
  creating = false;
  await creation;
  await world.settle();
  expect(world.load.tallies).toHaveLength(1 + faults.length);
  const urls = world.distributed.gateways.map(({ url }) => url);
  const lost: string[] = [];
  let asked = 0;
  const ask = (key: string) => request(`${urls[asked++ % urls.length]}/api/v1/me`, { key });
  let waitedMs = 0;
  for (const key of secrets) {
    const since = performance.now();
    let answer = await ask(key);
    // 503 says that a busy store did not tell in time, not that the key is gone.
    for (; answer.status === 503 && performance.now() - since < patienceMs; await sleep(100)) answer = await ask(key);
    waitedMs = Math.max(waitedMs, performance.now() - since);
    if (answer.status !== 200) lost.push(`${key.slice(0, 16)}: ${answer.status} ${answer.text}`);
    // Each would take as long.
    if (lost.length === 3) break;
  }
  console.log(`${secrets.length} keys were created meanwhile; lost ${lost.length}; told within ${Math.round(waitedMs)} ms at most`);
  expect(secrets.length).toBeGreaterThan(10);
  expect(lost).toEqual([]);
});
