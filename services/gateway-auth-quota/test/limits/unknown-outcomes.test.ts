/** Takes and returns whose outcome is unknown: looked up by their marks when the store is back, and never counted twice. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { LimiterBench, limitedKey } from "../support/limited-keys.ts";

let bench: LimiterBench;
beforeEach(() => {
  bench = new LimiterBench();
});
afterEach(() => bench.stop());

const key = limitedKey({ rate: 1_000_000, month: 5_000 });
type Gate = ReturnType<LimiterBench["limiter"]>;

async function admitted(gate: Gate, count: number): Promise<number> {
  let admissions = 0;
  for (let i = 0; i < count; i++) if ((await gate.admit(key, { month: 1 })).admitted) admissions += 1;
  return admissions;
}

/** Asks until nothing is left; time passes where the store has to be asked again. */
async function rest(gate: Gate): Promise<number> {
  let admissions = 0;
  for (let left = 1; left > 0; bench.pass(251)) {
    left = await admitted(gate, 6_000);
    admissions += left;
  }
  return admissions;
}

test.each([
  ["done", "mute"],
  ["not done", "fails"],
  ["done after all, too late", "late"],
] as const)("three pauses in which takes are %s cost no unit, and admit none too many", async (_, mode) => {
  const gate = bench.limiter();
  let admissions = await admitted(gate, 300);
  for (let pause = 0; pause < 3; pause++) {
    bench.store.mode = mode;
    // As long as the store is away units run out, and takes are tried.
    for (let i = 0; i < 5; i++, bench.pass(251)) admissions += await admitted(gate, 400);
    bench.store.mode = "works";
    const late = bench.store.late.splice(0);
    bench.pass(251);
    admissions += await admitted(gate, 1);
    for (const arrive of late) arrive();
    bench.pass(251);
    admissions += await admitted(gate, 100);
  }
  admissions += await rest(gate);
  await gate.stop();
  expect(bench.store.leased(key.bucket, "month")).toBeLessThanOrEqual(5_000);
  expect(admissions).toBe(5_000);
});

test.each([
  ["done", "mute"],
  ["not done", "fails"],
] as const)("units whose return is %s unheard of are there for others", async (_, mode) => {
  const [gate, other] = [bench.limiter({ settings: { idleReturnMs: 10 } }), bench.limiter()];
  const admissions = await admitted(gate, 10);
  bench.store.mode = mode;
  bench.pass(300);
  // Idle units are given back by a timer.
  await sleep(100);
  bench.store.mode = "works";
  bench.pass(300);
  await sleep(100);
  await gate.stop();
  expect(admissions + (await rest(other))).toBe(5_000);
});

test("a take whose window has ended is not looked up", async () => {
  const gate = bench.limiter();
  await admitted(gate, 10);
  bench.store.mode = "mute";
  await admitted(gate, 2_000);
  bench.pass(40 * 86_400_000);
  bench.store.mode = "works";
  bench.store.calls.length = 0;
  expect(await rest(gate)).toBe(5_000);
  expect(bench.store.calls.filter((call) => call === "recover month")).toEqual([]);
});
