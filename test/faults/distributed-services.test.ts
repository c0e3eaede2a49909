/** Each service is killed and started again under load: answers are right or documented problems, and all is well again by itself. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { ProblemCode } from "@netfacts/contracts";
import type { ServiceName } from "../support/distributed.ts";
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

test("nothing was wrong, hung or over-admitted", async () => {
  await world.settle();
  expect(world.load.tallies).toHaveLength(6);
});
