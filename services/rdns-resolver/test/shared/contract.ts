/** What every shared store does. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { SharedStore, SharedStoreOptions } from "../../src/shared/shared-store.ts";

export interface Place {
  /** Opens the same place again, as the next process does. */
  open(options?: Partial<SharedStoreOptions>): Promise<SharedStore>;
  remove(): Promise<void>;
}

/** Stores take their time to write, and tell nobody when they have. */
export async function becomes(store: SharedStore, key: string, text: string | null): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const found = await store.get(key, 5_000).catch(() => undefined);
    if (found === text || performance.now() > deadline) return expect(found).toBe(text);
    await sleep(10);
  }
}

export function describeSharedStore(name: string, place: () => Promise<Place>): void {
  describe(name, () => {
    let at: Place;
    const opened: SharedStore[] = [];
    const open = async (options?: Partial<SharedStoreOptions>) => {
      const store = await at.open(options);
      opened.push(store);
      return store;
    };
    beforeEach(async () => {
      at = await place();
    });
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
      await at.remove();
    });

    test("a text is there after it was put, and the last one counts", async () => {
      const store = await open();
      await becomes(store, "a.1-0-0-127-in-addr-arpa", null);
      store.put("a.1-0-0-127-in-addr-arpa", "first");
      await becomes(store, "a.1-0-0-127-in-addr-arpa", "first");
      store.put("a.1-0-0-127-in-addr-arpa", "second – ü");
      await becomes(store, "a.1-0-0-127-in-addr-arpa", "second – ü");
      expect(await store.get("b.1-0-0-127-in-addr-arpa", 1_000)).toBeNull();
    });

    test("texts outlive the process", async () => {
      const store = await at.open();
      await becomes(store, "a.b", null);
      store.put("a.b", "kept");
      await becomes(store, "a.b", "kept");
      await store.close();
      await becomes(await open(), "a.b", "kept");
    });

    test("the oldest leave when there is no more room", async () => {
      const store = await open({ bytesMax: 1_048_576 });
      await becomes(store, "a.0", null);
      const text = "x".repeat(10_000);
      for (let number = 0; number < 300; number += 1) store.put(`a.${number}`, `${number} ${text}`);
      await becomes(store, "a.299", `299 ${text}`);
      await becomes(store, "a.0", null);
      // What was put last may not be written yet.
      await sleep(200);
      let count = 0;
      for (let number = 0; number < 300; number += 1) if ((await store.get(`a.${number}`, 5_000)) !== null) count += 1;
      expect(count).toBeGreaterThan(80);
      expect(count).toBeLessThan(106);
    });

    test("a text is gone after its time", async () => {
      const store = await open({ ageMaxSeconds: 1 });
      await becomes(store, "a.b", null);
      store.put("a.b", "short");
      await becomes(store, "a.b", "short");
      await becomes(store, "a.b", null);
    });

    test("a text that is too large is not kept", async () => {
      const store = await open();
      await becomes(store, "a.b", null);
      store.put("a.b", "x".repeat(65_537));
      store.put("a.c", "ü".repeat(40_000));
      store.put("a.d", "fits");
      await becomes(store, "a.d", "fits");
      expect(await store.get("a.b", 1_000)).toBeNull();
      expect(await store.get("a.c", 1_000)).toBeNull();
    });
  });
}
