/** What every store must do, whatever is behind it: run by one test file per implementation. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createFirstKey, createKey, disableKey, generateKeyText, KeySpecError, readScopes, revokeKey, secretMatches } from "@netfacts/keys";
import { runsKept, type Store } from "../src/index.ts";
import { describeAdministration } from "./contract/administration.ts";
import { describeLeases } from "./contract/leases.ts";
import { describeLimits } from "./contract/limits.ts";
import { describePlans } from "./contract/plans.ts";
import { describeRecords } from "./contract/records.ts";
import { describeUsage } from "./contract/usage.ts";

export interface StoreFactory {
  readonly changesSeen: Store["changesSeen"];
  /** A handle on the one store of the running test; each call is a handle of its own, as another process would have. */
  open(options?: { now?: () => number }): Promise<Store>;
  /** Closes what is open, and forgets the store. */
  dispose(): Promise<void>;
}

const spec = { label: "siem-prod", scopes: ["ip", "routing"] as const };

export function describeStore(name: string, factory: StoreFactory): void {
  afterEach(() => factory.dispose());

  describe(`${name}: keys`, () => {
    test("gives back a key as it was written, seen through another handle", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      const expiresAt = Date.UTC(2100, 0, 1);
      const full = {
        ...spec,
        rate: { limit: 5, windowSeconds: 10 },
        month: { limit: 7 },
        expiresAt,
        allowedCidrs: ["198.51.100.0/24", "::1"],
      };
      const { key } = await createKey(one, full);
      expect(await two.keys.find(key.id)).toEqual(key);
      expect(key).toMatchObject({ ...full, allowedCidrs: ["198.51.100.0/24", "::1/128"], state: "active", version: 1, bucket: key.id });
    });

    test("answers null for an id that nobody has", async () => {
      expect(await (await factory.open()).keys.find("00000000")).toBeNull();
    });

    test("stores no part of the secret but its last four characters", async () => {
      const store = await factory.open();
      const { key, secret } = await createKey(store, spec);
      const stored = JSON.stringify(await store.keys.find(key.id));
      for (let i = 17; i + 5 <= secret.length; i++) expect(stored).not.toContain(secret.slice(i, i + 5));
    });

    test("refuses a second key of one id and keeps the first", async () => {
      const store = await factory.open();
      const { key } = await createKey(store, spec);
      expect(await store.keys.insert({ ...key, label: "other" })).toBe("exists");
      expect((await store.keys.find(key.id))?.label).toBe("siem-prod");
    });

    test("lists every key, oldest first", async () => {
      const store = await factory.open();
      const { key } = await createKey(store, spec);
      await store.keys.insert({ ...key, id: "0000000B", createdAt: 20 });
      await store.keys.insert({ ...key, id: "0000000A", createdAt: 20 });
      await store.keys.insert({ ...key, id: "0000000C", createdAt: 10 });
      expect((await store.keys.list()).map(({ id }) => id)).toEqual(["0000000C", "0000000A", "0000000B", key.id]);
    });

    test("changes a key only in the version that the caller has read", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      const { key } = await createKey(one, spec);
      const first = await one.keys.update(key.id, 1, { label: "renamed", month: { limit: 9 } });
      expect(first).toEqual({ outcome: "updated", key: { ...key, label: "renamed", month: { limit: 9 }, version: 2 } });
      expect(await two.keys.update(key.id, 1, { label: "lost" })).toEqual({ ...first, outcome: "conflict" });
      expect(await two.keys.find(key.id)).toMatchObject({ label: "renamed", version: 2 });
      expect(await two.keys.update("00000000", 1, { label: "nobody" })).toEqual({ outcome: "absent" });
    });

    test("lets exactly one of many concurrent changes of one version win", async () => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => factory.open()));
      const { key } = await createKey(stores[0] as Store, spec);
      const updates = await Promise.all(stores.map((store, i) => store.keys.update(key.id, 1, { label: `writer ${i}` })));
      expect(updates.filter(({ outcome }) => outcome === "updated")).toHaveLength(1);
      expect((await stores[0]?.keys.find(key.id))?.version).toBe(2);
    });
  });

  describe(`${name}: changes`, () => {
    test("says whose writes it tells of", async () => {
      expect((await factory.open()).changesSeen).toBe(factory.changesSeen);
    });

    if (factory.changesSeen === "any") {
      test("tells of a key written through another handle within a second: median of ten, each within ten", async () => {
        const [reader, writer] = [await factory.open(), await factory.open()];
        const delays: number[] = [];
        for (let i = 0; i < 10; i++) {
          const { promise, resolve } = Promise.withResolvers<void>();
          const end = reader.onChange(resolve);
          await sleep(20 * i);
          const started = performance.now();
          await createKey(writer, spec);
          await promise;
          delays.push(performance.now() - started);
          end();
        }
        delays.sort((a, b) => a - b);
        expect(delays[5]).toBeLessThan(1_000);
        expect(delays[9]).toBeLessThan(10_000);
      });
    }

    test("tells of a key written through the same handle", async () => {
      const store = await factory.open();
      let calls = 0;
      store.onChange(() => calls++);
      const { key } = await createKey(store, spec);
      await revokeKey(store, key.id);
      expect(calls).toBe(2);
    });

    test("says nothing of leases and runs, nor after the end of listening", async () => {
      const [reader, writer] = [await factory.open(), await factory.open()];
      let calls = 0;
      const end = reader.onChange(() => calls++);
      await writer.limits.take({ bucket: "7Q9M3W8K", policy: "month", start: 0, expiresAt: Date.UTC(2100, 0, 1) }, 10, 1);
      await writer.runs.save({ id: "a", startedAt: 1, endedAt: null, state: "running", report: null });
      await sleep(600);
      end();
      await createKey(writer, spec);
      await sleep(600);
      expect(calls).toBe(0);
    });
  });

  describe(`${name}: runs`, () => {
    const run = { id: "run-1", startedAt: 10, endedAt: null, state: "running", report: null } as const;

    test("keeps the latest state of a run with its report", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      await one.runs.save(run);
      const ended = { ...run, endedAt: 20, state: "succeeded", report: { sources: [{ name: "jinx", read: 3, skipped: [] }] } } as const;
      await one.runs.save(ended);
      expect(await two.runs.find("run-1")).toEqual(ended);
      expect(await two.runs.find("run-2")).toBeNull();
    });

    test("lists the latest started first, as many as asked for", async () => {
      const { runs } = await factory.open();
      for (const startedAt of [10, 30, 20]) await runs.save({ ...run, id: `run-${startedAt}`, startedAt });
      expect((await runs.list(2)).map(({ id }) => id)).toEqual(["run-30", "run-20"]);
    });

    test("lists those last that a clock dated in the future, and lets them go first", async () => {
      const { runs } = await factory.open();
      const [year, now] = [31_536_000_000, 1_800_000_000_000];
      const save = (id: string, startedAt: number, endedAt: number | null = null) => runs.save({ ...run, id, startedAt, endedAt });
      await save("run-ahead", now + year);
      await save("run-further-ahead", now + 2 * year);
      await save("run-before", now - 1_000);
      await save("run-of-another-clock", now + 1_000);
      const listed = async (limit: number) => (await runs.list(limit, now)).map(({ id }) => id);
      expect(await listed(9)).toEqual(["run-of-another-clock", "run-before", "run-further-ahead", "run-ahead"]);
      expect(await listed(1)).toEqual(["run-of-another-clock"]);
      expect(await listed(3)).toEqual(["run-of-another-clock", "run-before", "run-further-ahead"]);
      const more = Array.from({ length: runsKept - 4 }, (_, n) => `run-${n}`);
      for (let at = 0; at < more.length; at += 50) await Promise.all(more.slice(at, at + 50).map((id) => save(id, now - 2_000)));
      await save("run-last", now, now + 1);
      expect((await runs.list(2 * runsKept, now)).map(({ id }) => id).slice(-2)).toEqual(["run-0", "run-further-ahead"]);
      for (const id of ["run-later", "run-latest"]) await save(id, now, now + 2);
      expect((await runs.list(2 * runsKept, now)).map(({ id }) => id).at(-1)).toBe("run-1");
    });

    test("keeps the latest started, and lets go of older ones as runs end", async () => {
      const { runs } = await factory.open();
      const older = Array.from({ length: runsKept + 2 }, (_, n) => ({ ...run, id: `run-${1_000_000 + n}`, startedAt: n >> 1 }));
      for (let at = 0; at < older.length; at += 50) await Promise.all(older.slice(at, at + 50).map((one) => runs.save(one)));
      expect(await runs.list(2 * runsKept)).toHaveLength(runsKept + 2);
      await runs.save({ ...run, id: "run-last", startedAt: 2_000, endedAt: 2_001, state: "succeeded" });
      const left = await runs.list(2 * runsKept);
      expect(left).toHaveLength(runsKept);
      expect([left[0]?.id, left.at(-1)?.id]).toEqual(["run-last", "run-1000003"]);
      expect(await runs.find("run-1000002")).toBeNull();
    });
  });

  describe(`${name}: first key`, () => {
    test("is made once, with every read scope and not admin", async () => {
      const store = await factory.open();
      const first = await createFirstKey(store);
      expect(first?.key).toMatchObject({ scopes: readScopes, state: "active", environment: "live" });
      expect(first?.key.scopes).not.toContain("admin");
      expect(await createFirstKey(store)).toBeNull();
      const made = { actor: "bootstrap", action: "key.create", target: first?.key.id };
      expect(await store.audit.list({ limit: 10 })).toMatchObject([made]);
    });

    test("is made once by many starts at a time", async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => factory.open()));
      const made = (await Promise.all(stores.map((store) => createFirstKey(store)))).filter((key) => key !== null);
      expect(made).toHaveLength(1);
      expect(await stores[0]?.keys.list()).toEqual([made[0]?.key]);
    });

    test("is completed under the marker's id when a start died between marker and key", async () => {
      const store = await factory.open();
      expect(await store.bootstrap.read()).toBeNull();
      expect(await store.bootstrap.claim("7Q9M3W8K")).toEqual({ keyId: "7Q9M3W8K", created: true });
      expect(await store.bootstrap.claim("ZZZZZZZZ")).toEqual({ keyId: "7Q9M3W8K", created: false });
      expect((await createFirstKey(store))?.key.id).toBe("7Q9M3W8K");
      expect(await store.bootstrap.read()).toBe("7Q9M3W8K");
    });

    test("is the one of a secret, with the scopes asked for, when one is given", async () => {
      const store = await factory.open();
      const { text, id } = generateKeyText("live");
      const first = await createFirstKey(store, { key: text, scopes: ["admin"] });
      expect(first).toMatchObject({ secret: text, key: { id, scopes: ["admin"] } });
      expect(secretMatches(text, await store.keys.find(id))).toBe(true);
    });

    test("is not revived by a secret that was left behind, nor replaced by another", async () => {
      const store = await factory.open();
      const { text, id } = generateKeyText("live");
      await createFirstKey(store, { key: text });
      await revokeKey(store, id);
      expect(await createFirstKey(store, { key: text })).toBeNull();
      expect(await createFirstKey(store, { key: generateKeyText("live").text })).toBeNull();
      expect(await store.keys.list()).toMatchObject([{ id, state: "revoked" }]);
    });

    test("is refused before anything is written when the given text is no key", async () => {
      const store = await factory.open();
      const { text } = generateKeyText("live");
      for (const wrong of ["", text.slice(0, -1), `${text} `]) {
        await expect(createFirstKey(store, { key: wrong })).rejects.toThrow(KeySpecError);
      }
      expect(await store.bootstrap.read()).toBeNull();
    });

    test("is completed only with the key that an unfinished start began with", async () => {
      const store = await factory.open();
      const { text, id } = generateKeyText("live");
      await store.bootstrap.claim(id);
      await expect(createFirstKey(store, { key: generateKeyText("live").text })).rejects.toThrow(id);
      expect((await createFirstKey(store, { key: text }))?.key.id).toBe(id);
    });

    test("stays made whatever became of it", async () => {
      const store = await factory.open();
      const id = (await createFirstKey(store))?.key.id ?? "";
      await disableKey(store, id);
      expect(await createFirstKey(store)).toBeNull();
      await revokeKey(store, id);
      expect(await createFirstKey(store)).toBeNull();
    });
  });

  describeLimits(name, factory);
  describeUsage(name, factory);
  describeAdministration(name, factory);
  describePlans(name, factory);
  describeRecords(name, factory);
  describeLeases(name, factory);
}
