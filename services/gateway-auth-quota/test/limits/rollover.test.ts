/** Windows that end while units are leased, spent and not yet settled: any history of several gateways on one store whose clock is moved. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { type LimitRepository, openSqliteStore, type Store } from "@netfacts/storage";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { type Admission, createLimiter, type Limiter } from "../../src/limits/index.ts";
import { LimiterBench, limitedKey } from "../support/limited-keys.ts";

/** Half a minute before the month ends: rate windows end there and in the middle of the history. */
const start = Date.UTC(2026, 11, 31, 23, 59, 30);
const windowMs = 60_000;
const farAway = Date.UTC(2100, 0, 1);

type Command =
  /** Admits; `settled` says how they end at once, and null that they are under way until `settle`. */
  | { readonly kind: "requests"; readonly gateway: number; readonly count: number; readonly settled: boolean | null }
  | { readonly kind: "settle"; readonly answered: boolean }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "restart" | "kill"; readonly gateway: number };

interface Scenario {
  readonly rate: number;
  readonly month: number;
  readonly gateways: number;
  readonly commands: readonly Command[];
}

const gateway = fc.nat(2);
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  rate: fc.integer({ min: 1, max: 120 }),
  month: fc.integer({ min: 1, max: 200 }),
  gateways: fc.integer({ min: 1, max: 3 }),
  commands: fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant("requests" as const),
          gateway,
          count: fc.integer({ min: 1, max: 60 }),
          settled: fc.constantFrom(true, true, false, null),
        }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant("settle" as const), answered: fc.boolean() }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1, 5_000, 29_999, 30_000, 61_000) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("restart" as const, "kill" as const), gateway }) },
    ),
    { maxLength: 25 },
  ),
});

/** What was admitted in one window, and what the store has for it. */
interface WindowBooks {
  readonly policy: string;
  readonly windowStart: number;
  readonly limit: number;
  readonly admitted: number;
  readonly leased: number;
}

/** @param wrap  puts something between limiter and store, to plant a fault. */
async function run(scenario: Scenario, wrap: (limits: LimitRepository) => LimitRepository = (limits) => limits) {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-rollover-"));
  let now = 0;
  const key = limitedKey({ rate: scenario.rate, windowSeconds: windowMs / 1_000, month: scenario.month });
  const open = async (): Promise<{ store: Store; limiter: Limiter; die: () => void }> => {
    const store = await openSqliteStore(join(folder, "store.sqlite"), { now: () => start + now });
    let dead = false;
    const limits = wrap(store.limits);
    const mortal: LimitRepository = {
      ...limits,
      giveBack: async (...args) => (dead ? { outcome: "refused" } : limits.giveBack(...args)),
    };
    const limiter = createLimiter({
      store: { limits: mortal },
      clock: { monotonic: () => now },
      settings: { askAgainMs: 0, idleReturnMs: 1_000_000_000, waitMs: 60_000 },
    });
    return { store, limiter, die: () => (dead = true) };
  };
  const gateways = await Promise.all(Array.from({ length: scenario.gateways }, open));
  const at = (index: number) => gateways[index % gateways.length] as (typeof gateways)[number];
  /** `policy start` → admitted and not refunded. */
  const books = new Map<string, number>();
  const book = (policy: string, windowStart: number, units: number): void => {
    const id = `${policy} ${windowStart}`;
    books.set(id, (books.get(id) ?? 0) + units);
  };
  const underWay: { readonly limiter: Limiter; readonly admission: Admission }[] = [];

  const settle = (limiter: Limiter, admission: Admission, answered: boolean): void => {
    limiter.settle(admission, answered);
    if (answered) book("month", admission.charge.monthWindowStart, 1);
  };
  const request = async (limiter: Limiter, count: number, settled: boolean | null): Promise<void> => {
    const decisions = await Promise.all(Array.from({ length: count }, () => limiter.admit(key, { month: 1 })));
    const admissions = decisions.filter((decision) => decision.admitted);
    const rateWindow = (Math.floor((start + now) / windowMs) * windowMs) / 1_000;
    for (const admission of admissions) {
      book("rate", rateWindow, 1);
      if (settled === null) underWay.push({ limiter, admission });
      else settle(limiter, admission, settled);
    }
    await immediate();
  };
  const end = async (index: number, kill: boolean): Promise<void> => {
    const { limiter, store, die } = at(index);
    for (const { admission } of underWay.filter((one) => one.limiter === limiter)) settle(limiter, admission, true);
    underWay.splice(0, underWay.length, ...underWay.filter((one) => one.limiter !== limiter));
    if (kill) die();
    await limiter.stop();
    gateways[index % gateways.length] = await open();
    await store.close();
  };

  try {
    for (const command of scenario.commands) {
      if (command.kind === "requests") await request(at(command.gateway).limiter, command.count, command.settled);
      else if (command.kind === "settle")
        for (const { limiter, admission } of underWay.splice(0)) settle(limiter, admission, command.answered);
      else if (command.kind === "pass") now += command.ms;
      else await end(command.gateway, command.kind === "kill");
      await immediate();
    }
    // The next month: others give back what they hold of it, and one takes all that there is, a minute after the other.
    for (const { limiter, admission } of underWay.splice(0)) settle(limiter, admission, true);
    now = Math.max(now, 31_000);
    for (let index = 1; index < gateways.length; index++) await end(index, false);
    for (let minutes = 0; minutes < 3; minutes++) {
      now += windowMs;
      await request(at(0).limiter, scenario.rate + 5, true);
    }
    await at(0).limiter.stop();
    const all: WindowBooks[] = [];
    for (const [id, admitted] of books) {
      const [policy = "", startText = ""] = id.split(" ");
      const window = { bucket: key.bucket, policy, start: Number(startText), expiresAt: farAway };
      const { leased } = await at(0).store.limits.read(window);
      all.push({ policy, windowStart: window.start, limit: policy === "rate" ? scenario.rate : scenario.month, admitted, leased });
    }
    return all;
  } finally {
    for (const { limiter, store } of gateways) {
      await limiter.stop();
      await store.close();
    }
    rmSync(folder, { recursive: true });
  }
}

const isOver = ({ admitted, leased, limit }: WindowBooks): boolean => admitted > leased || leased > limit;

test("no window admits more than its limit, whenever units were leased, spent, refunded or lost", async () => {
  const histories = runs(60);
  let ended = 0;
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const books = await run(scenario);
      const over = books.filter(isOver);
      if (over.length > 0) throw new Error(JSON.stringify(over));
      ended += books.filter(({ policy }) => policy === "month").length > 1 ? 1 : 0;
    }),
    { seed: seed(1_231), numRuns: histories },
  );
  // Many histories have seen the month end.
  expect(ended).toBeGreaterThan(histories / 3);
});

const quiet: Scenario = {
  rate: 50,
  month: 70,
  gateways: 2,
  commands: [
    { kind: "requests", gateway: 0, count: 20, settled: null },
    { kind: "requests", gateway: 1, count: 20, settled: null },
    { kind: "pass", ms: 30_000 },
    { kind: "requests", gateway: 0, count: 10, settled: true },
    { kind: "settle", answered: false },
  ],
};

test("a new window has its whole limit again, whatever was held or under way when the old one ended", async () => {
  const books = await run(quiet);
  const months = books.filter(({ policy }) => policy === "month");
  expect(months.map(({ windowStart, admitted, leased }) => [windowStart, admitted, leased])).toEqual([
    [Date.UTC(2027, 0, 1) / 1_000, 70, 70],
  ]);
});

test("the check sees a store whose month never ends", async () => {
  const november = Date.UTC(2026, 10, 1) / 1_000;
  const stuck = (limits: LimitRepository): LimitRepository => ({
    ...limits,
    take: (window, ...rest) => limits.take(window.policy === "month" ? { ...window, start: november } : window, ...rest),
  });
  const books = await run(quiet, stuck);
  expect(books.some(isOver)).toBe(true);
});

test("units whose window ended while they were taken are not there in the next one", async () => {
  const bench = new LimiterBench();
  const gate = bench.limiter();
  const few = limitedKey({ rate: 10 });
  expect((await gate.admit(few, { month: 0 })).admitted).toBe(true);
  bench.store.hang();
  const { calls } = bench.store;
  const before = calls.length;
  const late = gate.admit(few, { month: 0, rate: 5 });
  while (calls.length === before) await immediate();
  bench.pass(60_000);
  bench.store.release();
  const decisions = [await late];
  for (let count = 0; count < 20; count++) decisions.push(await gate.admit(few, { month: 0 }));
  const admitted = decisions.reduce((sum, decision) => sum + (decision.admitted ? decision.charge.rate : 0), 0);
  await bench.stop();
  // Those of the late one are counted in the window in which it was admitted.
  expect(decisions[0]).toMatchObject({ admitted: true });
  expect(admitted).toBe(10);
});
