/** Units of the window to come: leased while the current one ends, spent when it has begun, and given back if nobody needs them. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { StoreError, type TakeOutcome } from "@netfacts/storage";
import { LimiterBench, limitedKey } from "../support/limited-keys.ts";

let bench: LimiterBench;
beforeEach(() => {
  bench = new LimiterBench();
});
afterEach(() => bench.stop());

const key = limitedKey({ rate: 600, windowSeconds: 60, month: 1_000_000 });
const nextCounter = `7Q9M3W8K:rate:${Date.UTC(2026, 10, 21, 9, 1) / 1_000}`;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Five requests a second; it is the 23rd second of a minute. @returns how many were admitted. */
async function load(gate: ReturnType<LimiterBench["limiter"]>, seconds: number): Promise<number> {
  let admitted = 0;
  for (let i = 0; i < seconds * 5; i++) {
    bench.pass(200);
    const decision = await gate.admit(key, { month: 1 });
    if (decision.admitted) {
      admitted += 1;
      gate.settle(decision, true);
    }
    await turn();
  }
  return admitted;
}

test("are leased in the last 15 seconds, at most a sixteenth of the limit, once", async () => {
  const gate = bench.limiter();
  await load(gate, 20);
  expect(bench.store.counters.get(nextCounter)).toBeUndefined();
  await load(gate, 10);
  expect(bench.store.counters.get(nextCounter)).toBe(37);
});

test("go back when the gateway stops", async () => {
  const gate = bench.limiter();
  await load(gate, 30);
  await gate.stop();
  expect(bench.store.counters.get(nextCounter)).toBe(0);
});

test("go back when the key is idle, and are leased again when it is used", async () => {
  const gate = bench.limiter({ settings: { idleReturnMs: 1_000, idleReturnMsMax: 1_000 } });
  await load(gate, 25);
  bench.pass(1_001);
  for (let i = 0; i < 300 && bench.store.counters.get(nextCounter) !== 0; i++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(bench.store.counters.get(nextCounter)).toBe(0);
  await load(gate, 3);
  expect(bench.store.counters.get(nextCounter)).toBeGreaterThan(0);
});

test("go back before they are spent if the limit was lowered meanwhile", async () => {
  const gate = bench.limiter();
  await load(gate, 30);
  expect(bench.store.counters.get(nextCounter)).toBe(37);
  const lowered = limitedKey({ rate: 10, windowSeconds: 60, month: 1_000_000 });
  bench.pass(6_900);
  expect(await gate.admit(lowered, { month: 1 })).toMatchObject({ admitted: false });
  bench.pass(150);
  let admitted = 0;
  for (let i = 0; i < 37; i++) if ((await gate.admit(lowered, { month: 1 })).admitted) admitted += 1;
  expect(admitted).toBe(10);
});

/** Takes of the window to come only. */
function onNextTake(answer: (take: () => Promise<TakeOutcome>) => Promise<TakeOutcome>): void {
  const take = bench.store.take.bind(bench.store);
  bench.store.take = (window, ...rest) => {
    const isNext = `${window.bucket}:${window.policy}:${window.start}` === nextCounter;
    const isEarly = bench.store.now < window.start * 1_000;
    return isNext && isEarly ? answer(() => take(window, ...rest)) : take(window, ...rest);
  };
}

test("are looked up when it is unknown whether they were leased", async () => {
  const gate = bench.limiter();
  onNextTake(async (take) => {
    await take();
    return { outcome: "unknown", cause: new StoreError("unavailable", "test", "says nothing") };
  });
  await load(gate, 36);
  expect(bench.store.counters.get(nextCounter)).toBe(37);
  const admitted = await load(gate, 5);
  await gate.stop();
  expect(admitted).toBe(25);
  // Four of them are of the old window.
  expect(bench.store.counters.get(nextCounter)).toBe(21);
  expect(bench.store.calls.filter((call) => call === "recover rate")).toHaveLength(1);
});

test.each([
  ["lost before the store had them", false],
  ["done, and the reply lost", true],
])("are here when the window begins though the first request for them was %s", async (_, isDone) => {
  const gate = bench.limiter();
  let asked = 0;
  onNextTake(async (take) => {
    asked += 1;
    if (asked > 1) return take();
    if (isDone) await take();
    return { outcome: "unknown", cause: new StoreError("unavailable", "test", "says nothing") };
  });
  await load(gate, 36);
  expect(asked).toBe(isDone ? 1 : 2);
  expect(bench.store.counters.get(nextCounter)).toBe(37);
  // As it begins, the store is away.
  bench.store.take = bench.store.recover = async () => ({ outcome: "unknown", cause: new StoreError("unavailable", "test", "away") });
  expect(await load(gate, 5)).toBe(25);
});

test("are here too when the store answers after the window has begun", async () => {
  const gate = bench.limiter({ settings: { waitMs: 10 } });
  const { promise, resolve } = Promise.withResolvers<void>();
  onNextTake(async (take) => {
    const outcome = await take();
    await promise;
    return outcome;
  });
  await load(gate, 36);
  bench.pass(1_000);
  const first = gate.admit(key, { month: 1 });
  resolve();
  expect(await first).toMatchObject({ admitted: true });
  await gate.stop();
  expect(bench.store.counters.get(nextCounter)).toBe(1);
});

test("are looked up too when the store falls silent as the window begins", async () => {
  const gate = bench.limiter({ settings: { waitMs: 10 } });
  const { promise, resolve } = Promise.withResolvers<void>();
  onNextTake(async (take) => {
    await take();
    await promise;
    return { outcome: "unknown", cause: new StoreError("unavailable", "test", "says nothing") };
  });
  await load(gate, 36);
  bench.pass(1_000);
  // It is the next window, and nobody knows yet what of it is leased here.
  const first = gate.admit(key, { month: 1 });
  resolve();
  await first;
  bench.pass(1_000);
  await load(gate, 1);
  expect(bench.store.calls.filter((call) => call === "recover rate")).toHaveLength(1);
  await gate.stop();
  // What was admitted, and nothing else.
  expect(bench.store.counters.get(nextCounter)).toBe(5);
});

test("are looked up when the window begins while they go back, and the store falls silent", async () => {
  const gate = bench.limiter({ settings: { idleReturnMs: 1_000, idleReturnMsMax: 1_000 } });
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const giveBack = bench.store.giveBack.bind(bench.store);
  bench.store.giveBack = async (window, ...rest) => {
    if (`${window.bucket}:${window.policy}:${window.start}` !== nextCounter || bench.store.now >= window.start * 1_000)
      return giveBack(window, ...rest);
    isAsked();
    await promise;
    return { outcome: "unknown", cause: new StoreError("unavailable", "test", "says nothing") };
  };
  await load(gate, 25);
  expect(bench.store.counters.get(nextCounter)).toBe(37);
  bench.pass(1_001);
  await asked;
  bench.pass(11_000);
  const first = gate.admit(key, { month: 1 });
  resolve();
  await first;
  bench.pass(1_000);
  await load(gate, 1);
  await gate.stop();
  expect(bench.store.counters.get(nextCounter)).toBe(6);
});

test("a window that began is not left again when a quicker reply puts the clock back, and none of its units is lost", async () => {
  const small = limitedKey({ rate: 40, windowSeconds: 60, month: 1_000_000 });
  const { time, take } = bench.store;
  // The first reply was 200 ms on its way to the store: the time told from it is 100 ms ahead. All others take 2 ms.
  bench.store.time = async () => {
    bench.pass(200);
    return time.call(bench.store);
  };
  bench.store.take = async (...args) => {
    bench.pass(1);
    const outcome = await take.apply(bench.store, args);
    bench.pass(1);
    return outcome;
  };
  const minute = 60_000;
  bench.pass(minute - (bench.store.now % minute) - 250);
  const windowStart = (bench.store.now + 250) / 1_000;
  const gate = bench.limiter();
  let admitted = 0;
  const ask = async (): Promise<void> => {
    const decision = await gate.admit(small, { month: 1 });
    if (!decision.admitted) return;
    gate.settle(decision, true);
    if (decision.charge.rateWindowStart === windowStart) admitted += 1;
  };
  await ask();
  bench.pass(1_000);
  for (let i = 0; i < 60; i++) await ask();
  expect(bench.store.counters.get(`7Q9M3W8K:rate:${windowStart}`)).toBe(40);
  expect(admitted).toBe(40);
});
