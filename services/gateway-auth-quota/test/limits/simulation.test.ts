/** Limits hold over any history of several gateways on one store. */

import { expect, test } from "@jest/globals";
import type { LimitRepository } from "@netfacts/storage";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { keepsItsPromise, type Scenario, scenarios, simulate } from "./simulation.ts";

test("admits the limit exactly, less at most one block for each killed gateway", async () => {
  await fc.assert(
    fc.asyncProperty(scenarios(), async (scenario) => {
      const outcome = await simulate(scenario);
      if (!keepsItsPromise(scenario, outcome)) throw new Error(JSON.stringify(outcome));
    }),
    { seed: seed(6_585), numRuns: runs(120) },
  );
});

const histories: Scenario = {
  policy: "month",
  limit: 200,
  gateways: 2,
  commands: [
    { kind: "requests", gateway: 0, count: 30, units: 1, answered: true },
    { kind: "requests", gateway: 0, count: 1, units: 1, answered: true },
    { kind: "restart", gateway: 0 },
    { kind: "requests", gateway: 1, count: 30, units: 1, answered: true },
    { kind: "requests", gateway: 1, count: 1, units: 1, answered: true },
    { kind: "restart", gateway: 1 },
  ],
};

test("the check sees a store that takes one return twice", async () => {
  const twice = (limits: LimitRepository): LimitRepository => ({
    take: limits.take,
    recover: limits.recover,
    read: limits.read,
    time: limits.time,
    giveBack: async (window, units) => {
      await limits.giveBack(window, units);
      return limits.giveBack(window, units);
    },
  });
  expect(keepsItsPromise(histories, await simulate(histories))).toBe(true);
  expect(keepsItsPromise(histories, await simulate(histories, twice))).toBe(false);
});

test("the check sees units that vanish", async () => {
  const never = (limits: LimitRepository): LimitRepository => ({
    take: limits.take,
    recover: limits.recover,
    read: limits.read,
    time: limits.time,
    giveBack: async () => ({ outcome: "refused" }),
  });
  expect(keepsItsPromise(histories, await simulate(histories, never))).toBe(false);
});
