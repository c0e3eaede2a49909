/** The part of the contract that counts requests. */

import { describe, expect, test } from "@jest/globals";
import { type UsageDimension, type UsageGroup, type UsageRow, usageGroups } from "../../src/index.ts";
import type { StoreFactory } from "../contract.ts";

const row: UsageRow = { keyId: "7Q9M3W8K", bucket: "7Q9M3W8K", day: "2026-11-21", routeClass: "ip", counted: 3, uncounted: 1 };
const all = { from: "2026-01-01", to: "2026-12-31" };

async function listed<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

export function describeUsage(name: string, factory: StoreFactory): void {
  describe(`${name}: usage`, () => {
    test("adds what every writer counted, per key, day and class", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      const other = { ...row, routeClass: "batch", counted: 10 };
      await one.usage.add({ writer: "one", sequence: 1, increments: [row, other, { ...row, day: "2026-11-22" }] });
      await two.usage.add({ writer: "two", sequence: 1, increments: [row, row, { ...row, keyId: "ZZZZZZZZ" }] });
      expect(await one.usage.list(all)).toEqual([
        other,
        { ...row, counted: 9, uncounted: 3 },
        { ...row, day: "2026-11-22" },
        { ...row, keyId: "ZZZZZZZZ" },
      ]);
    });

    test("adds a repeated batch once, and what a half-written one lacked", async () => {
      const { usage } = await factory.open();
      const batch = { writer: "one", sequence: 7, increments: [row] };
      for (let i = 0; i < 3; i++) await usage.add(batch);
      expect(await usage.list(all)).toEqual([row]);
      await usage.add({ ...batch, sequence: 8 });
      await usage.add(batch);
      expect(await usage.list(all)).toEqual([{ ...row, counted: 6, uncounted: 2 }]);
    });

    test("loses nothing when many writers meet on one new row", async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => factory.open()));
      const adds = stores.flatMap(({ usage }, i) =>
        Array.from({ length: 10 }, (_, k) => usage.add({ writer: `writer-${i}-${k}`, sequence: 1, increments: [row] })),
      );
      await Promise.all(adds);
      expect(await stores[0]?.usage.list(all)).toEqual([{ ...row, counted: 150, uncounted: 50 }]);
    });

    test("removes the rows of days before one, as many at a time as asked for, and no others", async () => {
      const { usage } = await factory.open();
      const days = ["2025-10-01", "2025-10-02", "2025-10-03"];
      const old = days.flatMap((day) => ["ip", "asn"].map((routeClass) => ({ ...row, day, routeClass })));
      const kept = [
        { ...row, day: "2025-10-04" },
        { ...row, keyId: "ZZZZZZZZ" },
      ];
      await usage.add({ writer: "one", sequence: 1, increments: [...old, ...kept] });
      const removed: number[] = [];
      for (let rounds = 0; rounds < 4; rounds++) removed.push(await usage.removeBefore("2025-10-04", 4));
      expect(removed).toEqual([4, 2, 0, 0]);
      expect(await usage.list({ from: "2000-01-01", to: "2100-01-01" })).toEqual(kept);
    });

    test("tells the latest day before one that has usage", async () => {
      const { usage } = await factory.open();
      expect(await usage.latestDay("2026-11-21")).toBeNull();
      const days = ["2025-01-31", "2026-11-20", "2026-11-21", "2028-11-21"];
      await usage.add({ writer: "one", sequence: 1, increments: days.map((day) => ({ ...row, day })) });
      expect(await usage.latestDay("2026-11-21")).toBe("2026-11-20");
      expect(await usage.latestDay("2026-11-20")).toBe("2025-01-31");
      expect(await usage.latestDay("2025-01-31")).toBeNull();
    });

    test("forgets writers of days before one, and no counts; what a later writer repeats is still added once", async () => {
      const day = "2026-01-30";
      const before = await factory.open({ now: () => Date.parse(day) });
      await before.usage.add({ writer: "old", sequence: 1, increments: [{ ...row, day }] });
      const { usage } = await factory.open({ now: () => Date.parse("2026-03-01") });
      const batch = { writer: "new", sequence: 1, increments: [{ ...row, day: "2026-03-01" }] };
      await usage.add(batch);
      expect(await usage.forgetWriters("2026-02-01", 10)).toBe(1);
      expect(await usage.forgetWriters("2026-02-01", 10)).toBe(0);
      await usage.add(batch);
      expect(await usage.list(all)).toEqual([
        { ...row, day },
        { ...row, day: "2026-03-01" },
      ]);
    });

    test("takes thousands of rows in one batch", async () => {
      const { usage } = await factory.open();
      const increments = Array.from({ length: 2_500 }, (_, i) => ({ ...row, keyId: `K${String(i).padStart(7, "0")}` }));
      await usage.add({ writer: "one", sequence: 1, increments });
      expect(await usage.monthTotal(row.bucket, "2026-11")).toEqual({ counted: 7_500, uncounted: 2_500 });
    });

    test("sums a bucket's month exactly, over keys and beyond 32 bits", async () => {
      const { usage } = await factory.open();
      const big = 2 ** 33 + 1;
      const increments = [
        { ...row, day: "2026-10-31", counted: 1_000 },
        { ...row, day: "2026-11-01", counted: big },
        { ...row, day: "2026-11-30", keyId: "SUCCESSR", counted: 2 },
        { ...row, day: "2026-12-01", counted: 1_000 },
        { ...row, keyId: "ZZZZZZZZ", bucket: "ZZZZZZZZ", counted: 1_000 },
      ];
      await usage.add({ writer: "one", sequence: 1, increments });
      await usage.add({ writer: "one", sequence: 2, increments });
      expect(await usage.monthTotal(row.bucket, "2026-11")).toEqual({ counted: 2 * (big + 2), uncounted: 4 });
      expect(await usage.monthTotal("NOBODY00", "2026-11")).toEqual({ counted: 0, uncounted: 0 });
    });

    test("lists the days, the key or the bucket asked for", async () => {
      const { usage } = await factory.open();
      const successor = { ...row, keyId: "SUCCESSR", day: "2026-11-23" };
      await usage.add({ writer: "one", sequence: 1, increments: [row, successor, { ...row, day: "2026-11-25" }] });
      expect(await usage.list({ from: "2026-11-21", to: "2026-11-23" })).toEqual([row, successor]);
      expect(await usage.list({ ...all, keyId: "SUCCESSR" })).toEqual([successor]);
      expect(await usage.list({ ...all, to: "2026-11-24", bucket: row.bucket })).toEqual([row, successor]);
    });

    test("lists by pages what it lists at once, and sums what it lists", async () => {
      const { usage } = await factory.open();
      const increments = ["AAAAAAAA", "BBBBBBBB"].flatMap((keyId) =>
        ["2026-11-20", "2026-11-21"].flatMap((day) =>
          ["asn", "ip", "reverse_dns"].map((routeClass) => ({ ...row, keyId, day, routeClass })),
        ),
      );
      await usage.add({ writer: "one", sequence: 1, increments });
      const whole = await usage.list(all);
      expect(whole).toHaveLength(12);
      const paged: UsageRow[] = [];
      for (let after: UsageRow | undefined; ; after = paged.at(-1)) {
        const rows = await usage.list(all, { limit: 5, ...(after !== undefined && { after }) });
        paged.push(...rows);
        if (rows.length < 5) break;
      }
      expect(paged).toEqual(whole);
      const some = { from: "2026-11-21", to: "2026-11-30", routeClass: "ip" };
      expect(await usage.list(some)).toHaveLength(2);
      expect(await usage.total(some)).toEqual({ counted: 6, uncounted: 2 });
      expect(await usage.total({ ...some, keyId: "AAAAAAAA", bucket: row.bucket })).toEqual({ counted: 3, uncounted: 1 });
      expect(await usage.total({ ...some, routeClass: "batch" })).toEqual({ counted: 0, uncounted: 0 });
    });

    test("sums rows over what is not kept apart, in order, and goes on behind any group", async () => {
      const { usage } = await factory.open();
      const days = ["2026-10-31", "2026-11-01", "2026-11-02"];
      const increments = ["B2", "A1"].flatMap((keyId) =>
        days.flatMap((day) =>
          ["ip", "batch"].map((routeClass) => ({ ...row, keyId, bucket: "shared", day, routeClass, counted: 10, uncounted: 1 })),
        ),
      );
      await usage.add({ writer: "one", sequence: 1, increments });
      const groups = async (by: readonly UsageDimension[]) => await listed(usageGroups(usage, all, by));
      const text = ({ keyId, day, month, routeClass, counted, uncounted }: UsageGroup): string =>
        [keyId, day, month, routeClass, counted, uncounted].filter((part) => part !== null).join(" ");
      expect((await groups(["key", "month"])).map(text)).toEqual([
        "A1 2026-10 20 2",
        "A1 2026-11 40 4",
        "B2 2026-10 20 2",
        "B2 2026-11 40 4",
      ]);
      expect((await groups(["route_class", "day"])).map(text)).toEqual(days.flatMap((day) => [`${day} batch 20 2`, `${day} ip 20 2`]));
      expect((await groups([])).map(text)).toEqual(["120 12"]);
      expect((await groups(["key"]))[0]).toMatchObject({ keyId: "A1", bucket: "shared" });
      for (const by of [
        ["key", "day", "route_class"],
        ["route_class", "month"],
        ["key", "route_class"],
      ] as const) {
        const whole = await groups(by);
        for (const [i, after] of whole.entries()) {
          expect(await listed(usageGroups(usage, all, by, after))).toEqual(whole.slice(i + 1));
        }
      }
    });

    test("refuses batches that make no sense, whole", async () => {
      const { usage } = await factory.open();
      const wrong: Partial<UsageRow>[] = [{ counted: -1 }, { counted: 0.5 }, { day: "2026-13-01" }, { keyId: "a.b" }, { routeClass: "$x" }];
      for (const members of wrong) {
        const add = usage.add({ writer: "one", sequence: 1, increments: [row, { ...row, ...members }] });
        await expect(add).rejects.toThrow(RangeError);
      }
      for (const batch of [
        { writer: "a.b", sequence: 1 },
        { writer: "", sequence: 1 },
        { writer: "one", sequence: 0 },
      ]) {
        await expect(usage.add({ ...batch, increments: [row] })).rejects.toThrow(RangeError);
      }
      expect(await usage.list(all)).toEqual([]);
      await expect(usage.monthTotal(row.bucket, "2026-11-01")).rejects.toThrow(RangeError);
    });
  });
}
