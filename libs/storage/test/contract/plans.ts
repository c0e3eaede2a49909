/** Plans: what every store must do. */

import { describe, expect, test } from "@jest/globals";
import { createKey } from "@netfacts/keys";
import type { StoreFactory } from "../contract.ts";

const team = { name: "team", rate: { limit: 600, windowSeconds: 60 }, month: { limit: 100_000 }, concurrency: { limit: 8 }, updatedAt: 10 };

export function describePlans(name: string, factory: StoreFactory): void {
  describe(`${name}: plans`, () => {
    test("are given back as they were written, seen through another handle", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      expect(await two.plans.find("team")).toBeNull();
      expect(await one.plans.put(team)).toEqual({ ...team, version: 1 });
      expect(await two.plans.find("team")).toEqual({ ...team, version: 1 });
      const changed = { ...team, month: { limit: 5 }, concurrency: null, updatedAt: 20 };
      expect(await two.plans.put(changed)).toEqual({ ...changed, version: 2 });
      expect(await one.plans.find("team")).toEqual({ ...changed, version: 2 });
    });

    test("are listed by name, and gone once deleted", async () => {
      const { plans } = await factory.open();
      for (const each of ["team", "default", "partner"]) await plans.put({ ...team, name: each });
      expect((await plans.list()).map((plan) => plan.name)).toEqual(["default", "partner", "team"]);
      expect([await plans.delete("partner"), await plans.delete("partner")]).toEqual([true, false]);
      expect((await plans.list()).map((plan) => plan.name)).toEqual(["default", "team"]);
    });

    test("written by many at a time count every change", async () => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => factory.open()));
      const written = await Promise.all(stores.map(({ plans }, i) => plans.put({ ...team, updatedAt: i })));
      expect(written.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4]);
    });

    test("are told of like keys", async () => {
      const store = await factory.open();
      let calls = 0;
      store.onChange(() => calls++);
      await store.plans.put(team);
      await store.plans.delete("team");
      await store.plans.delete("team");
      expect(calls).toBe(2);
    });

    test("leave the keys that refer to them alone", async () => {
      const store = await factory.open();
      await store.plans.put(team);
      const { key } = await createKey(store, { label: "a", scopes: ["ip"], plan: "team", concurrency: { limit: 2 } });
      await store.plans.delete("team");
      expect(await store.keys.find(key.id)).toEqual(key);
      expect(key).toMatchObject({ plan: "team", concurrency: { limit: 2 } });
    });
  });
}
