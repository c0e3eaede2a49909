import { afterEach, beforeEach, jest, test } from "@jest/globals";
import fc from "fast-check";
import { scenarios, Simulation } from "./window-simulation.ts";
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "clearImmediate", "queueMicrotask", "performance", "hrtime"] });
});
afterEach(() => {
  jest.useRealTimers();
});
test("scratch", async () => {
  const re = new RegExp(process.env.FILTER ?? ".");
  const r = await fc.check(fc.asyncProperty(scenarios, async (scenario) => {
    const o = await new Simulation(scenario).run();
    return !o.faults.some((f) => re.test(f));
  }), { seed: Number(process.env.SEED ?? 1), numRuns: Number(process.env.N ?? 3000), interruptAfterTimeLimit: 100000000 });
  process.stderr.write("NUM " + r.numRuns + " " + JSON.stringify(r.counterexample) + "\n");
  if (r.counterexample) { process.env.LOGT = "1"; const o = await new Simulation(r.counterexample[0]).run(); process.stderr.write(o.faults.join("\n") + "\n"); }
});
