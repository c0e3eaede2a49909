/** The part of the contract that keeps limits. */

import { describe, expect, test } from "@jest/globals";
import type { LimitWindow } from "../../src/index.ts";
import type { StoreFactory } from "../contract.ts";
import { admitted, returningTwice } from "./over-admission.ts";

const month: LimitWindow = { bucket: "7Q9M3W8K", policy: "month", start: 1_793_491_200, expiresAt: Date.UTC(2100, 0, 1) };

export function describeLimits(name: string, factory: StoreFactory): void {
  describe(`${name}: limits`, () => {
    test("takes up to the limit and not one unit more", async () => {
      const { limits } = await factory.open();
      expect(await limits.take(month, 10, 4)).toMatchObject({ outcome: "granted", leased: 4 });
      expect(await limits.take(month, 10, 6)).toMatchObject({ outcome: "granted", leased: 10 });
      expect(await limits.take(month, 10, 1)).toMatchObject({ outcome: "does-not-fit", left: 0, leased: 10 });
      expect(await limits.read(month)).toMatchObject({ leased: 10 });
    });

    test("takes all or nothing, and says how much is left", async () => {
      const { limits } = await factory.open();
      await limits.take(month, 10, 7);
      expect(await limits.take(month, 10, 4)).toMatchObject({ outcome: "does-not-fit", left: 3, leased: 7 });
      expect(await limits.read(month)).toMatchObject({ leased: 7 });
    });

    test("has nothing left, and not less, when the limit was lowered below what is leased", async () => {
      const { limits } = await factory.open();
      await limits.take(month, 10, 8);
      expect(await limits.take(month, 5, 1)).toMatchObject({ outcome: "does-not-fit", left: 0, leased: 8 });
    });

    test("keeps buckets, policies and windows apart", async () => {
      const { limits } = await factory.open();
      await limits.take(month, 10, 10);
      for (const other of [{ bucket: "OTHER000" }, { policy: "rate" }, { start: month.start + 60 }]) {
        expect(await limits.take({ ...month, ...other }, 10, 10)).toMatchObject({ outcome: "granted", leased: 10 });
      }
    });

    test("takes units back, but never more than are leased", async () => {
      const { limits } = await factory.open();
      await limits.take(month, 10, 5);
      expect(await limits.giveBack(month, 3)).toMatchObject({ outcome: "returned", leased: 2 });
      expect(await limits.giveBack(month, 3)).toEqual({ outcome: "refused" });
      expect(await limits.giveBack({ ...month, bucket: "OTHER000" }, 1)).toEqual({ outcome: "refused" });
      expect(await limits.read(month)).toMatchObject({ leased: 2 });
    });

    test("keeps a counter as long as the longest window that is counted in it", async () => {
      const { limits } = await factory.open();
      // A rate of one minute becomes one of a day: both windows begin at midnight.
      await limits.take({ ...month, policy: "rate", expiresAt: 1 }, 10, 4);
      await limits.take({ ...month, policy: "rate" }, 10, 3);
      expect(await limits.read({ ...month, policy: "rate" })).toMatchObject({ leased: 7 });
      await limits.take({ ...month, policy: "rate", expiresAt: 1 }, 10, 1);
      expect(await limits.read({ ...month, policy: "rate" })).toMatchObject({ leased: 8 });
    });

    test("refuses counts that make no sense", async () => {
      const { limits } = await factory.open();
      for (const units of [0, -1, 1.5, 11, Number.NaN]) await expect(limits.take(month, 10, units)).rejects.toThrow(RangeError);
      for (const units of [0, -1, 1.5, Number.NaN]) await expect(limits.giveBack(month, units)).rejects.toThrow(RangeError);
      expect(await limits.read(month)).toMatchObject({ leased: 0 });
    });

    test("grants concurrent takers through many handles exactly the limit", async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => factory.open()));
      const takes = stores.flatMap(({ limits }) => Array.from({ length: 20 }, () => limits.take(month, 70, 1)));
      const outcomes = (await Promise.all(takes)).map(({ outcome }) => outcome);
      const granted = outcomes.filter((outcome) => outcome === "granted").length;
      // A busy machine may leave some without an answer in time, which then may have been granted.
      const unknown = outcomes.filter((outcome) => outcome === "unknown").length;
      expect(granted).toBeLessThanOrEqual(70);
      expect(granted + unknown).toBeGreaterThanOrEqual(70);
    });

    test("lets takers who return what they do not spend admit exactly the limit", async () => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => factory.open()));
      expect(
        await admitted(
          stores.map(({ limits }) => limits),
          month,
          200,
        ),
      ).toBe(200);
    });

    test("would be seen to over-admit if blocks were returned twice", async () => {
      const { limits } = await factory.open();
      const wrong = returningTwice(limits);
      // Both: one of two may come too late to take a unit.
      expect(await admitted([wrong, wrong], month, 200)).toBeGreaterThan(200);
    });

    test("counts beyond 32 bits", async () => {
      const { limits } = await factory.open();
      expect(await limits.take(month, 2 ** 40, 2 ** 31 - 1)).toMatchObject({ leased: 2 ** 31 - 1 });
      expect(await limits.take(month, 2 ** 40, 2 ** 31 - 1)).toMatchObject({ leased: 2 ** 32 - 2 });
      expect(await limits.giveBack(month, 2 ** 31)).toMatchObject({ leased: 2 ** 31 - 2 });
    });

    test("reads an absent counter as empty, and takes from it afterwards", async () => {
      const { limits } = await factory.open();
      expect(await limits.read(month)).toMatchObject({ leased: 0 });
      expect(await limits.take(month, 10, 10)).toMatchObject({ outcome: "granted", leased: 10 });
    });

    test("stamps answers with its own clock", async () => {
      const { limits } = await factory.open();
      const before = await limits.time();
      const take = await limits.take(month, 10, 1);
      const after = await limits.time();
      expect(take.outcome === "granted" && before <= take.at && take.at <= after).toBe(true);
    });

    test("reads a counter past its expiry as empty, deleted or not", async () => {
      const { limits } = await factory.open();
      const past = { ...month, expiresAt: Date.now() - 60_000 };
      await limits.take(past, 10, 5);
      expect(await limits.read(past)).toMatchObject({ leased: 0 });
    });
  });
}
