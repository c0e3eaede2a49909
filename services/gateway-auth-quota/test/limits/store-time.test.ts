/** The store's time, told from replies. */

import { expect, test } from "@jest/globals";
import { StoreTime } from "../../src/limits/store-time.ts";

const base = Date.UTC(2026, 10, 21, 9);

/** A store whose clock runs with ours, and a network with delays of our choosing. */
function world() {
  let monotonic = 10_000;
  let setBy = 0;
  const time = new StoreTime(() => monotonic);
  return {
    time,
    storeNow: () => base + monotonic + setBy,
    pass(ms: number) {
      monotonic += ms;
    },
    setStore(ms: number) {
      setBy += ms;
    },
    /** One exchange: there, stamp, and back. */
    ask(thereMs: number, backMs: number) {
      const sentAt = monotonic;
      monotonic += thereMs;
      const at = base + monotonic + setBy;
      monotonic += backMs;
      time.observe(at, sentAt);
    },
  };
}

test("is unknown before the first reply", () => {
  expect(world().time.now()).toBeNull();
});

test("is off by at most half a round trip, and runs on between replies", () => {
  const { time, ask, pass, storeNow } = world();
  ask(40, 0);
  expect(Math.abs((time.now() ?? 0) - storeNow())).toBeLessThanOrEqual(20);
  pass(100_000);
  expect(Math.abs((time.now() ?? 0) - storeNow())).toBeLessThanOrEqual(20);
});

test("trusts the quickest reply of the last ten minutes", () => {
  const { time, ask, pass, storeNow } = world();
  ask(1, 1);
  ask(300, 0);
  ask(0, 200);
  expect(time.now()).toBe(storeNow());
  pass(600_001);
  ask(0, 80);
  expect((time.now() ?? 0) - storeNow()).toBe(-40);
  ask(0, 200);
  expect((time.now() ?? 0) - storeNow()).toBe(-40);
});

test("follows a store whose clock was set, forth and back", () => {
  const { time, ask, setStore, storeNow } = world();
  ask(1, 1);
  setStore(3_600_000);
  ask(20, 20);
  expect(time.now()).toBe(storeNow());
  setStore(-7_200_000);
  ask(30, 30);
  expect(time.now()).toBe(storeNow());
});

test("stands still rather than goes back when a better reading comes", () => {
  const { time, ask, pass, storeNow } = world();
  ask(200, 0);
  const before = time.now();
  expect(before).toBe(storeNow() + 100);
  ask(1, 1);
  expect(time.now()).toBe(before);
  pass(97);
  expect(time.now()).toBe(before);
  pass(10);
  expect(time.now()).toBe(storeNow());
});
