/** How long gateways go on without the store at the full rate of a key, by the units that they hold; and never one unit too many. */

import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { LimiterBench, limitedKey } from "../support/limited-keys.ts";

const tickMs = 50;
let bench: LimiterBench;
beforeEach(() => {
  bench = new LimiterBench();
});
afterEach(() => bench.stop());

interface Outage {
  readonly gateways: number;
  readonly limit: number;
  /** Of the rate, what is used of it. */
  readonly share?: number;
  /** The store is away from this second of a window to that one. */
  readonly from?: number;
  readonly to?: number;
}

/** Requests spread evenly. `admissions` are those of the window in which the store went away. */
async function outage({ gateways, limit, share = 1, from = 3, to = 23 }: Outage): Promise<{ bridgedMs: number; admissions: number }> {
  const gates = Array.from({ length: gateways }, () => bench.limiter());
  const key = limitedKey({ rate: limit, windowSeconds: 60, month: 100_000_000 });
  const refusedAt = gates.map(() => Number.POSITIVE_INFINITY);
  const due = gates.map(() => 0);
  let admissions = 0;
  // Seconds after the begin of a window: the first requests are in the one before.
  const load = async (fromSecond: number, toSecond: number): Promise<void> => {
    for (let ms = fromSecond * 1_000; ms < toSecond * 1_000; ms += tickMs) {
      bench.pass(tickMs);
      for (const [i, gate] of gates.entries()) {
        for (due[i] = (due[i] ?? 0) + ((limit / 60_000) * share * tickMs) / gateways; (due[i] ?? 0) >= 1; due[i] = (due[i] ?? 0) - 1) {
          const decision = await gate.admit(key, { month: 1 });
          if (!decision.admitted) refusedAt[i] = Math.min(refusedAt[i] ?? 0, ms);
          else if (ms >= 0 && ms < 60_000) admissions += 1;
          if (decision.admitted) gate.settle(decision, true);
        }
      }
    }
  };
  // It is the 23rd second of a minute.
  bench.pass(29_000);
  await load(-8, from);
  refusedAt.fill(Number.POSITIVE_INFINITY);
  bench.store.mode = "fails";
  await load(from, to);
  const bridgedMs = Math.min(to * 1_000, ...refusedAt) - from * 1_000;
  bench.store.mode = "works";
  await load(to, 119);
  await Promise.all(gates.map((gate) => gate.stop()));
  return { bridgedMs, admissions };
}

test.each([
  { limit: 600, gateways: 1, least: 2_500 },
  { limit: 600, gateways: 4, least: 9_000 },
  { limit: 600, gateways: 16, least: 12_000 },
  { limit: 60_000, gateways: 1, least: 2_500 },
  { limit: 60_000, gateways: 4, least: 9_000 },
  { limit: 60_000, gateways: 16, least: 12_000 },
])("$gateways gateways bridge at least $least ms of a rate of $limit a minute, and admit no more than it", async (row) => {
  const { bridgedMs, admissions } = await outage(row);
  console.log(`${row.limit} a minute, ${row.gateways} gateways: bridged ${(bridgedMs / 1_000).toFixed(2)} s; admitted ${admissions}`);
  expect(bridgedMs).toBeGreaterThanOrEqual(row.least);
  expect(admissions).toBeLessThanOrEqual(row.limit);
});

test.each([1, 4, 16])(
  "%i gateways bridge the turn of a window at a fifth of a rate of 600, and neither window admits more than it",
  async (gateways) => {
    const { bridgedMs, admissions } = await outage({ gateways, limit: 600, share: 0.2, from: 54, to: 64 });
    console.log(
      `600 a minute, ${gateways} gateways, a fifth of it: bridged ${(bridgedMs / 1_000).toFixed(2)} of 10 s; admitted ${admissions}`,
    );
    expect(bridgedMs).toBe(10_000);
    expect(admissions).toBeLessThanOrEqual(600);
  },
);
