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
  const kinds = new Map<string, number>();
  const t = process.hrtime.bigint();
  let bad = 0, adm = 0, calls = 0, months = 0, steps = 0;
  const n = Number(process.env.N ?? 500);
  for (const scenario of fc.sample(scenarios, { seed: Number(process.env.SEED ?? 1), numRuns: n })) {
    const outcome = await new Simulation(scenario).run().catch((e) => ({ faults: [String(e)], admissions: 0, calls: 0, monthEnded: false }));
    adm += outcome.admissions; calls += outcome.calls; months += Number(outcome.monthEnded); steps += scenario.commands.length;
    if (outcome.faults.length > 0) bad += 1;
    for (const fault of new Set(outcome.faults.map((f) => f.replace(/leased (\d+), admitted (-?\d+)/, (_, a, b) => (Number(a) > Number(b) ? "LEAK" : "OVER")).replace(/\d+/g, "#")))) kinds.set(fault, (kinds.get(fault) ?? 0) + 1);
  }
  process.stderr.write(JSON.stringify({ n, bad, steps, adm, calls, months, s: Number((process.hrtime.bigint() - t) / 1000000n) / 1000, kinds: Object.fromEntries(kinds) }, null, 1) + "\n");
});
