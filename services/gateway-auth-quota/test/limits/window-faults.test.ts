/** Windows begin and end while the store delays, loses and repeats nothing: no unit is leaked, none returned twice, and none admitted too many. */

import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { type Scenario, Simulation, scenarios } from "./window-simulation.ts";

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

const quick = { wayMsMax: 5, lost: 0, mute: 0, late: 0, failsAtOnce: false };
const gone = { ...quick, lost: 100, failsAtOnce: true };
const burst = (gateway: number, count: number, units: number, ending: "answered" | "refused" | "withdrawn" | "open") =>
  ({ kind: "burst", gateway, count, units, ending }) as const;

// If this fails, it is by never coming to an end.
test("a lease whose window has another length, and has yet to be entered, has nothing to give back", async () => {
  const scenario: Scenario = {
    seed: 707_909_417,
    gateways: 3,
    windowSeconds: 10,
    rate: 26,
    month: 129,
    bridgeSeconds: 15,
    monthEndsInMs: 25_903,
    commands: [
      burst(2, 6, 6, "refused"),
      burst(2, 21, 1, "open"),
      { kind: "settle", answered: false },
      { kind: "pass", ms: 5_100 },
      { kind: "weather", weather: gone },
      { kind: "pass", ms: 5_100 },
      { kind: "restart", gateway: 0 },
      { kind: "pass", ms: 1_300 },
      { kind: "policy", rate: 47, month: 14_134, windowSeconds: 5 },
      burst(3, 15, 1, "withdrawn"),
      { kind: "reserve", gateway: 0, units: 57, atLeast: 258, keep: 67 },
      { kind: "weather", weather: { ...quick, wayMsMax: 15 } },
      burst(2, 14, 1, "withdrawn"),
      burst(3, 12, 4, "answered"),
      burst(0, 12, 1, "answered"),
      { kind: "weather", weather: gone },
      { kind: "restart", gateway: 1 },
      burst(2, 26, 1, "withdrawn"),
      { kind: "settle", answered: true },
    ],
    lengths: true,
    debtMax: 0,
    calmMs: 350,
  };
  expect((await new Simulation(scenario).run()).faults).toEqual([]);
});
