/** What the meter counts, and how it gets into the store. */

import { afterEach, expect, test } from "@jest/globals";
import { openSqliteStore, type Store, StoreError, type UsageBatch, type UsageRow } from "@netfacts/storage";
import { UsageMeter, type UsageMeterOptions } from "../../src/usage/usage-meter.ts";
import { admissionAt } from "../support/usage-admission.ts";

const noon = Date.UTC(2026, 10, 21, 12);
const all = { from: "2026-01-01", to: "2027-12-31" };
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function openStore(): Promise<Store> {
  const store = await openSqliteStore(":memory:");
  ends.push(() => store.close());
  return store;
}

/** Writes only when it is told to. */
function meterOn(usage: UsageMeterOptions["usage"], lines: string[] = [], stopMs = 50): UsageMeter {
  const tell = (_: object, message: string): void => void lines.push(message);
  const meter = new UsageMeter({ usage, log: { info: tell, warn: tell }, flushMs: 3_600_000, stopMs });
  ends.push(() => meter.stop());
  return meter;
}

const row = (members: Partial<UsageRow>): UsageRow => ({
  keyId: "7Q9M3W8K",
  bucket: "7Q9M3W8K",
  day: "2026-11-21",
  routeClass: "ip",
  counted: 0,
  uncounted: 0,
  ...members,
});

test("counts per key, day and class, and writes each thing once", async () => {
  const { usage } = await openStore();
  const meter = meterOn(usage);
  meter.count(admissionAt(noon), 1, 0);
  meter.count(admissionAt(noon), 0, 1);
  meter.count(admissionAt(noon, "batch"), 250, 0);
  meter.count(admissionAt(noon, "ip", "ZZZZZZZZ"), 1, 0);
  meter.count(admissionAt(noon + 86_400_000), 1, 0);
  expect(meter.unwritten).toBe(254);
  expect(await meter.flush()).toBe(true);
  expect(await meter.flush()).toBe(true);
  meter.count(admissionAt(noon), 1, 0);
  await meter.stop();
  expect(meter.unwritten).toBe(0);
  expect(await usage.list(all)).toEqual([
    row({ routeClass: "batch", counted: 250 }),
    row({ counted: 2, uncounted: 1 }),
    row({ day: "2026-11-22", counted: 1 }),
    row({ keyId: "ZZZZZZZZ", bucket: "ZZZZZZZZ", counted: 1 }),
  ]);
});

test("an admission counts for a day of the month that it was charged to", async () => {
  const { usage } = await openStore();
  const meter = meterOn(usage);
  const newMonth = Date.UTC(2026, 11, 1);
  // In the order in which they may be settled: the last of November after the first of December.
  meter.count(admissionAt(newMonth + 2), 1, 0);
  meter.count(admissionAt(newMonth - 1), 1, 0);
  meter.count(admissionAt(newMonth + 1, "ip", "7Q9M3W8K", newMonth - 1), 1, 0);
  meter.count(admissionAt(newMonth + 3), 1, 0);
  await meter.flush();
  expect((await usage.list(all)).map(({ day, counted }) => [day, counted])).toEqual([
    ["2026-11-30", 2],
    ["2026-12-01", 2],
  ]);
});

test("a batch that failed is repeated unchanged before anything newer, until it is in", async () => {
  const { usage } = await openStore();
  const lines: string[] = [];
  const tried: UsageBatch[] = [];
  let fails = 0;
  const meter = meterOn(
    {
      async add(batch) {
        tried.push(batch);
        // Written, and the answer lost.
        await usage.add(batch);
        if (fails-- > 0) throw new StoreError("unavailable", "fake", "is away");
      },
    },
    lines,
  );
  fails = 2;
  meter.count(admissionAt(noon), 1, 0);
  expect(await meter.flush()).toBe(false);
  meter.count(admissionAt(noon), 5, 0);
  expect(await meter.flush()).toBe(false);
  expect(meter.unwritten).toBe(6);
  expect(await meter.flush()).toBe(true);
  expect(await meter.flush()).toBe(true);
  expect(tried.map(({ sequence, increments }) => [sequence, increments[0]?.counted])).toEqual([
    [1, 1],
    [1, 1],
    [1, 1],
    [2, 5],
  ]);
  expect(await usage.list(all)).toEqual([row({ counted: 6 })]);
  expect(lines).toEqual([
    "usage counts cannot be written; they are kept in memory and written when the store is available again",
    "usage counts are being written again",
  ]);
});

test("thousands of rows are written by small batches, so that nothing waits for them long", async () => {
  const { usage } = await openStore();
  const sizes: number[] = [];
  const meter = meterOn({
    async add(batch) {
      sizes.push(batch.increments.length);
      await usage.add(batch);
    },
  });
  for (let i = 0; i < 1_001; i++) meter.count(admissionAt(noon, "asn", `K${i}`), 1, 0);
  await meter.flush();
  expect(sizes).toEqual([200, 200, 200, 200, 200, 1]);
  expect(await usage.total(all)).toEqual({ counted: 1_001, uncounted: 0 });
});

test("a stop without the store ends in time and tells what is lost", async () => {
  const lines: string[] = [];
  const away = new StoreError("unavailable", "fake", "is away");
  const meter = meterOn({ add: async () => Promise.reject(away) }, lines);
  meter.count(admissionAt(noon), 1, 0);
  meter.count(admissionAt(noon), 0, 1);
  expect(await meter.stop()).toBe(2);
  expect(lines.at(-1)).toBe("usage counts of these requests could not be written before shutdown and are lost");
});
