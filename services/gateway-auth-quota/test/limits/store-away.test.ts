/** The store of limits away, where debt is allowed: what is admitted meanwhile, how it is settled, and how much it can ever be too much. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Decision, Limiter, LimiterOptions } from "../../src/limits/index.ts";
import { admission, LimiterBench, limitedKey } from "../support/limited-keys.ts";

let bench: LimiterBench;
/** Units by event, over both policies. */
let events: Record<string, number>;
beforeEach(() => {
  bench = new LimiterBench();
  events = {};
});
afterEach(() => bench.stop());

function indebted(debtMax: number, settings: LimiterOptions["settings"] = {}): Limiter {
  return bench.limiter({
    settings: { debtMax, ...settings },
    onDebt: (event, policy, units) => {
      const name = `${policy} ${event}`;
      events[name] = (events[name] ?? 0) + units;
    },
  });
}

async function admit(gate: Limiter, key: ReturnType<typeof limitedKey>, count: number): Promise<string[]> {
  const told: string[] = [];
  for (let i = 0; i < count; i++) {
    const decision: Decision = await gate.admit(key, { month: 1 });
    told.push(decision.admitted ? "admitted" : decision.code);
  }
  return told;
}

const admitted = (told: readonly string[]): number => told.filter((word) => word === "admitted").length;

/** Time passes, so that the store is asked again, and has answered. */
async function askedAgain(): Promise<void> {
  bench.pass(251);
  await sleep(300);
}

test("leased units first, then debt up to its bound, then refusals", async () => {
  const gate = indebted(10);
  const key = limitedKey({ rate: 6_000, month: 10_000 });
  expect(await admit(gate, key, 1)).toEqual(["admitted"]);
  bench.store.mode = "fails";
  // 100 a second: blocks of 25, of which 24 are left.
  const told = await admit(gate, key, 50);
  expect(told.slice(0, 34)).toEqual(Array(34).fill("admitted"));
  expect(new Set(told.slice(34))).toEqual(new Set(["limits_unavailable"]));
  expect(events).toMatchObject({ "month admitted": 10 });
});

test("what is owed is taken from the store when it is back, though nobody asks for anything", async () => {
  const gate = indebted(100);
  const key = limitedKey({ rate: 6_000, month: 1_000 });
  await admit(gate, key, 1);
  bench.store.mode = "fails";
  expect(admitted(await admit(gate, key, 60))).toBe(60);
  const lost = bench.store.leased(key.bucket, "month");
  bench.store.mode = "works";
  await askedAgain();
  expect(bench.store.leased(key.bucket, "month") - lost).toBe(events["month admitted"]);
  expect(events["month settled"]).toBe(events["month admitted"]);
  expect(gate.headers(key)["x-quota-remaining"]).toBe("939");
  await gate.stop();
  expect([bench.store.leased(key.bucket, "rate"), bench.store.leased(key.bucket, "month")]).toEqual([61, 61]);
});

test("debt is allowed in windows that are entered because the store's clock was set back", async () => {
  const gate = indebted(10, { bridgeSeconds: 0 });
  const key = limitedKey({ rate: 600, month: 1_000 });
  await admit(gate, key, 1);
  bench.store.now -= 300_000;
  bench.pass(60_000);
  // Learns the time.
  await admit(gate, key, 4);
  bench.store.mode = "fails";
  await admit(gate, key, 20);
  expect(events["rate admitted"]).toBeGreaterThan(0);
});

test("a store that hangs makes few wait: the next are admitted at once", async () => {
  const gate = indebted(1_000, { waitMs: 100 });
  const key = limitedKey({ rate: 600, month: 1_000 });
  await admit(gate, key, 3);
  bench.store.mode = "fails";
  await admit(gate, key, 1);
  bench.store.hang();
  bench.pass(251);
  const begun = performance.now();
  expect(admitted(await admit(gate, key, 200))).toBe(200);
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(bench.store.calls.filter((call) => call.startsWith("take")).length).toBeLessThan(10);
});

test("refunds lower the debt first", async () => {
  const gate = indebted(100);
  const key = limitedKey({ rate: 600, month: 1_000 });
  await admit(gate, key, 3);
  bench.store.mode = "fails";
  const decisions = [];
  for (let i = 0; i < 10; i++) decisions.push(await gate.admit(key, { month: 1 }));
  for (const decision of decisions) gate.settle(admission(decision), false);
  expect(events).toMatchObject({ "month admitted": 10, "month refunded": 10 });
  bench.store.mode = "works";
  await askedAgain();
  expect(events["month settled"]).toBeUndefined();
  // The take whose outcome was unknown was not done.
  expect(gate.headers(key)["x-quota-remaining"]).toBe("997");
});

test("what is refunded while it is being settled is there to be spent", async () => {
  const gate = indebted(10);
  const key = limitedKey({ rate: 600, month: 1_000 });
  await admit(gate, key, 3);
  bench.store.mode = "fails";
  const decisions: Decision[] = [];
  for (let i = 0; i < 10; i++) decisions.push(await gate.admit(key, { month: 1 }));
  bench.store.mode = "works";
  const { store } = bench;
  const take = store.take.bind(store);
  store.take = async (...args) => {
    const taken = await take(...args);
    if (args[0].policy === "month") for (const decision of decisions.splice(0, 4)) gate.settle(admission(decision), false);
    return taken;
  };
  await askedAgain();
  expect(events).toMatchObject({ "month admitted": 10, "month refunded": 4, "month settled": 6 });
  await gate.stop();
  expect(store.leased(key.bucket, "month")).toBe(9);
});

test("a limit that is known to be used up is not overrun on debt", async () => {
  const gate = indebted(100);
  const key = limitedKey({ rate: 600, month: 5 });
  expect(admitted(await admit(gate, key, 9))).toBe(5);
  bench.store.mode = "fails";
  bench.pass(251);
  expect(admitted(await admit(gate, key, 9))).toBe(0);
});

test("what was written off uses up the debt until the window ends, though others return units", async () => {
  const [gate, other] = [indebted(20), bench.limiter()];
  const key = limitedKey({ rate: 6_000, month: 100 });
  await admit(gate, key, 1);
  bench.store.mode = "fails";
  await admit(gate, key, 200);
  bench.store.mode = "works";
  const taken: Decision[] = [];
  for (let i = 0; i < 200; i++) taken.push(await other.admit(key, { month: 1 }));
  await askedAgain();
  expect(events).toMatchObject({ "month admitted": 20, "month written_off": 20 });
  for (const decision of taken.filter(({ admitted }) => admitted).slice(0, 40)) other.settle(admission(decision), false);
  await other.stop();
  bench.pass(2_000);
  expect(admitted(await admit(gate, key, 1))).toBe(1);
  bench.store.mode = "fails";
  await admit(gate, key, 200);
  expect(events["month admitted"]).toBe(20);
});

describe("at most the debt is too much", () => {
  test.each([
    { gateways: 1, limit: 100 },
    { gateways: 3, limit: 100 },
    { gateways: 3, limit: 4 },
  ])("$gateways gateways, a month of $limit", async ({ gateways, limit }) => {
    const debtMax = 20;
    const gates = Array.from({ length: gateways }, () => indebted(debtMax));
    const key = limitedKey({ rate: 6_000, month: limit });
    let count = 0;
    // Away three times: what was settled in between may be owed again, what was written off may not.
    for (let outage = 0; outage < 3; outage++) {
      for (const gate of gates) count += admitted(await admit(gate, key, 5));
      bench.store.mode = "fails";
      for (const gate of gates) count += admitted(await admit(gate, key, 200));
      bench.store.mode = "works";
      await askedAgain();
    }
    for (const gate of gates) count += admitted(await admit(gate, key, 200));
    await Promise.all(gates.map((gate) => gate.stop()));
    expect(bench.store.leased(key.bucket, "month")).toBeLessThanOrEqual(limit);
    const tooMuch = count - bench.store.leased(key.bucket, "month");
    expect(tooMuch).toBeLessThanOrEqual(gateways * debtMax);
    expect(Math.max(0, tooMuch)).toBeLessThanOrEqual(events["month written_off"] ?? 0);
    const { "month admitted": let_in = 0, "month settled": settled = 0, "month written_off": off = 0, "month refunded": back = 0 } = events;
    expect(let_in).toBe(settled + off + back);
  });
});

test.each([
  ["done", "mute"],
  ["not done", "fails"],
  ["done too late, which does nothing", "late"],
] as const)(
  "a settlement that was %s without notice is looked up: all is settled once, and the allowance is there again",
  async (_, mode) => {
    const gate = indebted(10);
    const key = limitedKey({ rate: 6_000, month: 10_000 });
    await admit(gate, key, 1);
    bench.store.mode = "fails";
    expect(admitted(await admit(gate, key, 50))).toBe(34);
    // The store answers readings, and loses the first take.
    const { store } = bench;
    const take = store.take.bind(store);
    store.mode = "works";
    store.take = async (...args) => {
      store.mode = mode;
      const lost = await take(...args);
      store.mode = "works";
      if (args[0].policy === "month") store.take = take;
      return lost;
    };
    await askedAgain();
    for (const arrive of store.late) arrive();
    await askedAgain();
    expect(events).toMatchObject({ "month admitted": 10, "month settled": 10 });
    expect(events["month written_off"]).toBeUndefined();
    await gate.stop();
    expect(store.leased(key.bucket, "month")).toBe(35);
  },
);

test("debt of a window that has ended limits nothing any more", async () => {
  const gate = indebted(10);
  const key = limitedKey({ rate: 600, month: 10 });
  await admit(gate, key, 1);
  bench.store.mode = "fails";
  await admit(gate, key, 20);
  bench.pass(31 * 86_400_000);
  bench.store.mode = "works";
  expect(admitted(await admit(gate, key, 20))).toBe(10);
});

test("without a reading of the store's time no window is known, and nothing is admitted", async () => {
  const gate = indebted(10);
  bench.store.mode = "fails";
  expect(await admit(gate, limitedKey({}), 3)).toEqual(Array(3).fill("limits_unavailable"));
});
