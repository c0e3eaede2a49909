/** NATS under load: its server stops, freezes and is killed, its connections are cut, delayed and half-closed. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ProblemCode } from "@netfacts/contracts";
import type { Fault } from "./fault-load.ts";
import { expectMet, type FaultyWorld, startFaultyWorld } from "./faulty-world.ts";

let world: FaultyWorld;
beforeAll(async () => {
  world = await startFaultyWorld({ replicas: { "gateway-auth-quota": 2, "ip-routing": 2, "asn-prefix": 1, "rdns-resolver": 1 } });
});
afterAll(() => world?.stop());

const problems: readonly ProblemCode[] = ["upstream_unavailable", "upstream_timeout", "temporarily_overloaded"];
const faults: readonly Fault[] = [
  {
    name: "nats-server stopped and restarted",
    problems,
    make: () => world.distributed.nats.stop(),
    mend: () => world.distributed.restartNats(),
  },
  {
    name: "nats-server killed (kill -9) and restarted",
    problems,
    make: () => world.distributed.nats.kill(),
    mend: () => world.distributed.restartNats(),
  },
  {
    name: "nats-server frozen and thawed",
    problems,
    lastsMs: 3_000,
    make: () => world.distributed.nats.freeze(),
    mend: () => world.distributed.nats.thaw(),
  },
  { name: "connections to NATS cut and refused", problems, make: () => world.nats.cut(), mend: () => world.nats.restore() },
  { name: "connections to NATS delayed by 150 ms", problems, make: () => world.nats.delay(150), mend: () => world.nats.restore() },
  { name: "connections to NATS half-closed", problems, lastsMs: 500, make: () => world.nats.halfClose(), mend: () => undefined },
];

test.each(faults)("$name: right answers or documented problems, and well again by itself", async (fault) => {
  expectMet(await world.load.meet(fault));
});

test("nothing was wrong, hung or over-admitted", async () => {
  await world.settle();
  expect(world.load.tallies).toHaveLength(1 + faults.length);
});
