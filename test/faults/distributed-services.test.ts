/** Each service and nats-server are killed and started again under load: answers are right or documented problems, and all is well again by itself. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ProblemCode } from "@netfacts/contracts";
import type { ServiceName } from "../support/distributed.ts";
import type { Fault } from "./fault-load.ts";
import { expectMet, type FaultyWorld, startFaultyWorld } from "./faulty-world.ts";

let world: FaultyWorld;
beforeAll(async () => {
  world = await startFaultyWorld({
    replicas: { "gateway-auth-quota": 2, "ip-routing": 2, "asn-prefix": 1, "rdns-resolver": 1, ingest: 1 },
    direct: true,
  });
});
afterAll(() => world?.stop());

const away: readonly ProblemCode[] = ["upstream_unavailable", "upstream_timeout"];
const killed = (service: ServiceName, more: { problems: readonly ProblemCode[]; cuts?: boolean }) => ({
  ...more,
  name: `${service}-0 killed (kill -9) and restarted`,
  make: () => world.distributed.kill(service, 0),
  mend: () => world.distributed.restart(service, 0),
});

test.each<{ service: ServiceName; problems: readonly ProblemCode[]; cuts?: boolean }>([
  { service: "ip-routing", problems: away },
  { service: "asn-prefix", problems: away },
  { service: "rdns-resolver", problems: away },
  // A new one knows nothing of services that are there but have not answered it yet.
  { service: "gateway-auth-quota", problems: ["limits_unavailable", "upstream_unavailable"], cuts: true },
  { service: "ingest", problems: [] },
])("a killed $service is missed at most until another one, or its next start, answers", async ({ service, ...more }) => {
  expectMet(await world.load.meet(killed(service, more)));
});

const problems: readonly ProblemCode[] = ["upstream_unavailable", "upstream_timeout", "temporarily_overloaded"];
const faultsOfNats: readonly Fault[] = [
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
];

test.each(faultsOfNats)("$name: right answers or documented problems, and well again by itself", async (fault) => {
  expectMet(await world.load.meet(fault));
});

test("nothing was wrong, hung or over-admitted", async () => {
  await world.settle();
  expect(world.load.tallies).toHaveLength(1 + 5 + faultsOfNats.length);
});
