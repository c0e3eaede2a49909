/** Windows begin and end while the store delays, loses and repeats nothing: no unit is leaked, none returned twice, and none admitted too many. */

import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import { runs, seed } from "../../../../test/support/runs.ts";
import { Simulation, scenarios } from "./window-simulation.ts";

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "clearImmediate", "queueMicrotask", "performance", "hrtime"] });
});
afterEach(() => {
  jest.useRealTimers();
});

test("counters have what was admitted, whatever was delayed or lost as windows ended", async () => {
  let [histories, admissions, months] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const outcome = await new Simulation(scenario).run();
      if (outcome.faults.length > 0) throw new Error(outcome.faults.join("\n"));
      histories += 1;
      admissions += outcome.admissions;
      months += outcome.monthEnded ? 1 : 0;
    }),
    { seed: seed(8_117), numRuns: runs(3_000, 150) },
  );
  expect(admissions / histories).toBeGreaterThan(50);
  expect(months / histories).toBeGreaterThan(0.2);
});
