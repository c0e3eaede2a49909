/** The part of the contract that decides who leads. */

import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import type { StoreFactory } from "../contract.ts";

const long = 60_000;

export function describeLeases(name: string, factory: StoreFactory): void {
  describe(`${name}: leases`, () => {
    test("go to one of many who ask at a time", async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => factory.open()));
      const asked = stores.flatMap(({ leases }, i) =>
        Array.from({ length: 4 }, (_, k) => leases.acquire("ingest", `owner-${i}-${k}`, long)),
      );
      const outcomes = await Promise.all(asked);
      const held = outcomes.filter(({ outcome }) => outcome === "held");
      expect(held).toHaveLength(1);
      expect(new Set(outcomes.map(({ lease }) => lease.owner)).size).toBe(1);
      expect(await stores[0]?.leases.read("ingest")).toEqual(held[0]?.lease);
    });

    test("stay with their owner, who may ask again, and are no other lease", async () => {
      const { leases } = await factory.open();
      const first = await leases.acquire("ingest", "a", long);
      expect(first).toMatchObject({ outcome: "held", lease: { name: "ingest", owner: "a", fence: 1 } });
      expect(await leases.acquire("ingest", "b", long)).toEqual({ ...first, outcome: "taken" });
      expect(await leases.acquire("ingest", "a", long)).toMatchObject({ outcome: "held", lease: { fence: 1 } });
      expect(await leases.acquire("other", "b", long)).toMatchObject({ outcome: "held", lease: { fence: 1 } });
      expect(await leases.read("third")).toBeNull();
    });

    test("end by themselves when their owner is gone, and its successor has a higher fence", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      const { lease } = await one.leases.acquire("ingest", "a", 300);
      await one.close();
      const owners: string[] = [];
      for (;;) {
        const answer = await two.leases.acquire("ingest", "b", long);
        owners.push(`${answer.lease.owner} ${answer.lease.fence}`);
        if (answer.outcome === "held") break;
        await sleep(20);
      }
      // No sooner, however long the machine took for this.
      expect(await two.limits.time()).toBeGreaterThanOrEqual(lease.until);
      expect(owners.slice(0, -1).every((owner) => owner === "a 1")).toBe(true);
      expect(owners.at(-1)).toBe("b 2");
    });

    test("are nobody's once their time is over", async () => {
      const { leases } = await factory.open();
      await leases.acquire("ingest", "a", 50);
      await sleep(80);
      expect(await leases.read("ingest")).toBeNull();
    });

    test("last as long as they are renewed, and go to one of many when they are not", async () => {
      const stores = await Promise.all(Array.from({ length: 3 }, () => factory.open()));
      const [leader] = stores;
      // Long enough for two operations of a busy store, and shorter than all renewals together.
      const ttlMs = 1_500;
      await leader?.leases.acquire("ingest", "a", ttlMs);
      for (let i = 0; i < 5; i++) {
        await sleep(400);
        expect(await leader?.leases.renew("ingest", "a", ttlMs)).toMatchObject({ outcome: "held" });
        expect(await stores[1]?.leases.acquire("ingest", "b", ttlMs)).toMatchObject({ outcome: "taken" });
      }
      await sleep(ttlMs + 50);
      const outcomes = await Promise.all(stores.map(({ leases }, i) => leases.acquire("ingest", `successor-${i}`, long)));
      expect(outcomes.filter(({ outcome }) => outcome === "held")).toHaveLength(1);
    });

    test("tell an owner who slept too long that another leads", async () => {
      const { leases } = await factory.open();
      await leases.acquire("ingest", "a", 50);
      await sleep(80);
      expect(await leases.renew("ingest", "a", 50)).toMatchObject({ outcome: "held", lease: { fence: 1 } });
      await sleep(80);
      await leases.acquire("ingest", "b", long);
      expect(await leases.renew("ingest", "a", long)).toEqual({ outcome: "lost" });
      expect(await leases.read("ingest")).toMatchObject({ owner: "b" });
    });

    test("are free at once when they are released, by their owner only", async () => {
      const { leases } = await factory.open();
      await leases.acquire("ingest", "a", long);
      await leases.release("ingest", "b");
      expect(await leases.read("ingest")).toMatchObject({ owner: "a" });
      await leases.release("ingest", "a");
      expect(await leases.read("ingest")).toBeNull();
      expect(await leases.renew("ingest", "a", long)).toEqual({ outcome: "lost" });
      expect(await leases.acquire("ingest", "b", long)).toMatchObject({ outcome: "held", lease: { fence: 2 } });
    });

    test("end by the store's time", async () => {
      const { leases, limits } = await factory.open();
      const before = await limits.time();
      const { lease } = await leases.acquire("ingest", "a", long);
      const after = await limits.time();
      expect(lease.until).toBeGreaterThanOrEqual(before + long);
      expect(lease.until).toBeLessThanOrEqual(after + long);
    });

    test("refuse lengths that make no sense", async () => {
      const { leases } = await factory.open();
      for (const ttlMs of [0, -1, 1.5, 600_001, Number.NaN]) {
        await expect(leases.acquire("ingest", "a", ttlMs)).rejects.toThrow(RangeError);
        await expect(leases.renew("ingest", "a", ttlMs)).rejects.toThrow(RangeError);
      }
    });
  });
}
