/** Exceptions that nobody expected in the work on a lease: they refuse one key, end no process, and repeat nothing without a pause. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { TakeOutcome } from "@netfacts/storage";
import type { Limiter } from "../../src/limits/index.ts";
import { LimiterBench, limitedKey } from "../support/limited-keys.ts";

let bench: LimiterBench;
let faults: unknown[];
let gate: Limiter;
beforeEach(() => {
  bench = new LimiterBench();
  faults = [];
  gate = bench.limiter({ onFault: (fault) => void faults.push(fault) });
});
afterEach(() => bench.stop());

const good = limitedKey({}, "good");
const bad = limitedKey({}, "bad");

/** What the limiter decides of a key, and afterwards of another one. */
async function decisions(): Promise<string[]> {
  const told: string[] = [];
  for (const key of [bad, bad, good]) {
    const decision = await gate.admit(key, { month: 1 });
    told.push(decision.admitted ? "admitted" : decision.code);
  }
  return told;
}

/** More calls would be a loop, which is ended here, so that the test fails and not its process. */
const loopMax = 100;
const never = (): Promise<never> => new Promise(() => {});

/** Takes of the key `bad` do this. */
function takes(does: () => Promise<TakeOutcome>): void {
  const take = bench.store.take.bind(bench.store);
  bench.store.take = (window, ...rest) => (window.bucket === "bad" ? does() : take(window, ...rest));
}

test("a take that throws refuses its key, and is tried again after a pause", async () => {
  let calls = 0;
  takes(async () => {
    calls += 1;
    if (calls > loopMax) return never();
    throw new RangeError("cannot take 5 of 1000 units");
  });
  expect(await decisions()).toEqual(["limits_unavailable", "limits_unavailable", "admitted"]);
  // Time to repeat itself. Once for the rate, and once for the month.
  await sleep(50);
  expect([calls, faults.length]).toEqual([2, 2]);
  bench.pass(251);
  expect(await decisions()).toEqual(["limits_unavailable", "limits_unavailable", "admitted"]);
  expect(calls).toBe(4);
});

test("a counter of no number does the same", async () => {
  let calls = 0;
  takes(async () => {
    calls += 1;
    if (calls > loopMax) return never();
    return { outcome: "does-not-fit", left: Number.NaN, leased: Number.NaN, at: bench.store.now };
  });
  const told = await decisions();
  expect(told[2]).toBe("admitted");
  expect(told.slice(0, 2)).not.toContain("admitted");
  await sleep(50);
  expect(calls).toBeLessThan(10);
});
