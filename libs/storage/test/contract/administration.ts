/** What operators do to keys: rotation, the last admin key, Idempotency-Keys, the audit. What every store must hold. */

import { describe, expect, test } from "@jest/globals";
import {
  Administration,
  type ControlChange,
  createKey,
  enableKey,
  hashKey,
  IdempotencyConflict,
  type KeyRecord,
  KeySpecError,
  type NewKey,
  revokeKey,
  rotateKey,
  secretMatches,
  updateKey,
} from "@netfacts/keys";
import type { Store } from "../../src/index.ts";
import type { StoreFactory } from "../contract.ts";

const spec: NewKey = { label: "siem-prod", scopes: ["ip", "routing"] };
const admin: NewKey = { label: "operator", scopes: ["admin"] };
const by = { actor: "key:7Q9M3W8K", address: "198.51.100.7", keyId: "7Q9M3W8K" };
const day = 86_400_000;

export function describeAdministration(name: string, factory: StoreFactory): void {
  const administration = (store: Store, told: ControlChange[] = [], now?: () => number): Administration =>
    new Administration({ store, pepper: null, changed: (change) => void told.push(change), ...(now !== undefined && { now }) });
  const entries = async (store: Store) => (await store.audit.list({ limit: 100 })).reverse();

  describe(`${name}: pages of keys`, () => {
    test("hold every key once, in order, and only those that are asked for", async () => {
      const { keys, ...store } = await factory.open();
      const { key } = await createKey({ ...store, keys }, { ...spec, scopes: ["ip", "admin"] });
      const made = (id: string, change: Partial<KeyRecord>) => keys.insert({ ...key, id, createdAt: 10, scopes: ["ip"], ...change });
      await made("0000000C", { plan: "team" });
      await made("0000000A", { state: "disabled" });
      await made("0000000B", { createdAt: 20 });
      const first = await keys.page({ limit: 2 });
      const last = first.at(-1) as KeyRecord;
      const rest = await keys.page({ limit: 10, after: last });
      expect([...first, ...rest].map(({ id }) => id)).toEqual(["0000000A", "0000000C", "0000000B", key.id]);
      const ids = async (query: object) => (await keys.page({ limit: 10, ...query })).map(({ id }) => id);
      expect(await ids({ plan: "team" })).toEqual(["0000000C"]);
      expect(await ids({ scope: "admin" })).toEqual([key.id]);
      expect(await ids({ state: "disabled" })).toEqual(["0000000A"]);
      expect(await ids({ state: "active", scope: "ip", after: last })).toEqual(["0000000B", key.id]);
    });
  });

  describe(`${name}: a key hashed anew`, () => {
    test("is the same key with another pepper, unless somebody was quicker", async () => {
      const store = await factory.open();
      const { key, secret } = await createKey(store, spec);
      let calls = 0;
      store.onChange(() => calls++);
      const peppered = hashKey(secret, { id: "p1", secret: "a pepper for this test" });
      expect(await store.keys.rehash(key.id, key.hash, peppered)).toBe(true);
      expect(await store.keys.rehash(key.id, key.hash, hashKey(secret, null))).toBe(false);
      const kept = await store.keys.find(key.id);
      expect(kept).toEqual({ ...key, ...peppered });
      expect(secretMatches(secret, kept, new Map([["p1", "a pepper for this test"]]))).toBe(true);
      expect(calls).toBe(0);
    });
  });

  describe(`${name}: rotation`, () => {
    test("makes a successor that has everything of the old key but id and secret, and lets the old one end", async () => {
      const store = await factory.open();
      const now = Date.now();
      const { key } = await createKey(store, { ...spec, plan: "team", month: { limit: 9 }, allowedCidrs: ["198.51.100.0/24"] });
      const rotated = await rotateKey(store, key.id, { now, overlapMs: 7 * day });
      if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
      const { id, hash, lastFour, createdAt, ...same } = rotated.successor;
      const { id: oldId, hash: oldHash, lastFour: _, createdAt: __, ...old } = key;
      expect(same).toEqual(old);
      expect([id, hash]).not.toEqual([oldId, oldHash]);
      expect(createdAt).toBe(now);
      expect(rotated.successor.bucket).toBe(key.bucket);
      expect(secretMatches(rotated.secret as string, await store.keys.find(id))).toBe(true);
      expect(await store.keys.find(key.id)).toMatchObject({ state: "active", replacedBy: id, rotatedAt: now, validUntil: now + 7 * day });
    });

    test("gives the successor what the key may do when it is replaced, and not when that was begun", async () => {
      const store = await factory.open();
      const { key } = await createKey(store, { ...spec, plan: "team", month: { limit: 9 } });
      const narrowed = { label: "siem", scopes: ["ip"], allowedCidrs: ["198.51.100.0/24"], plan: "small", month: { limit: 3 } } as const;
      const beforeWrite = async () => void (await updateKey(store, key.id, narrowed));
      const rotated = await rotateKey(store, key.id, { beforeWrite });
      if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
      expect(rotated.successor).toMatchObject(narrowed);
      expect(await store.keys.find(rotated.successor.id)).toEqual(rotated.successor);
    });

    test("does not put a key in its place that was revoked: that of an earlier try which did not come to its end", async () => {
      const store = await factory.open();
      const { key } = await createKey(store, spec);
      const { key: left } = await createKey(store, spec);
      await revokeKey(store, left.id);
      const rotated = await rotateKey(store, key.id, { successorId: left.id });
      expect(rotated).toMatchObject({ outcome: "rotated", successor: { state: "active" }, secret: expect.stringContaining("nf_live_") });
    });

    test("refuses what has ended, and an overlap out of bounds", async () => {
      const store = await factory.open();
      const [one, two, three] = await Promise.all(
        [spec, spec, { ...spec, expiresAt: Date.now() + day }].map((each) => createKey(store, each)),
      );
      const outcome = async (id = "00000000", options = {}) => (await rotateKey(store, id, options)).outcome;
      await rotateKey(store, one?.key.id as string);
      expect(await outcome(one?.key.id)).toBe("replaced");
      await store.keys.update(two?.key.id as string, 1, { state: "disabled" });
      expect(await outcome(two?.key.id)).toBe("unusable");
      await revokeKey(store, two?.key.id as string);
      expect(await outcome(two?.key.id)).toBe("revoked");
      expect(await outcome(three?.key.id, { now: Date.now() + 2 * day })).toBe("unusable");
      expect(await outcome()).toBe("absent");
      await expect(rotateKey(store, three?.key.id as string, { overlapMs: 31 * day })).rejects.toThrow(KeySpecError);
      await expect(rotateKey(store, three?.key.id as string, { overlapMs: -1 })).rejects.toThrow("overlap: must be 0 to 30 days");
      expect(await outcome(three?.key.id, { overlapMs: 0 })).toBe("rotated");
    });

    test("by many at a time makes one successor that works", async () => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => factory.open()));
      const { key } = await createKey(stores[0] as Store, spec);
      const outcomes = await Promise.all(stores.map((store) => rotateKey(store, key.id)));
      expect(outcomes.filter(({ outcome }) => outcome === "rotated")).toHaveLength(1);
      const active = (await (stores[0] as Store).keys.list()).filter(({ state, replacedBy }) => state === "active" && replacedBy === null);
      expect(active).toHaveLength(1);
    });

    test("of the only admin key leaves its successor in its place", async () => {
      const store = await factory.open();
      const { key } = await createKey(store, admin);
      const rotated = await rotateKey(store, key.id, { overlapMs: day });
      if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
      expect(await revokeKey(store, rotated.successor.id)).toMatchObject({ outcome: "last-admin" });
      expect(await revokeKey(store, key.id)).toMatchObject({ outcome: "changed" });
    });
  });

  describe(`${name}: the last admin key`, () => {
    test("is not ended, disabled, or left without the scope, unless forced", async () => {
      const store = await factory.open();
      const { key } = await createKey(store, admin);
      expect(await revokeKey(store, key.id)).toMatchObject({ outcome: "last-admin" });
      expect(await updateKey(store, key.id, { scopes: ["ip"] })).toMatchObject({ outcome: "last-admin" });
      expect(await store.keys.find(key.id)).toMatchObject({ state: "active", scopes: ["admin"], steppingDown: false });
      expect(await updateKey(store, key.id, { label: "renamed" })).toMatchObject({ outcome: "changed" });
      expect(await updateKey(store, key.id, { scopes: ["ip"] }, { force: true })).toMatchObject({ outcome: "changed" });
    });

    test("gets no expiry, and no networks without the operator, unless forced", async () => {
      const store = await factory.open();
      const keys = administration(store);
      const { key } = await createKey(store, admin);
      const expiresAt = Date.now() + day;
      expect(await keys.updateKey(by, key.id, { expiresAt })).toMatchObject({ outcome: "last-admin", loss: "time" });
      expect(await keys.updateKey(by, key.id, { allowedCidrs: ["10.0.0.0/8"] })).toMatchObject({ outcome: "last-admin", loss: "networks" });
      expect(await store.keys.find(key.id)).toMatchObject({ expiresAt: null, allowedCidrs: [], steppingDown: false });
      expect(await keys.updateKey(by, key.id, { allowedCidrs: ["198.51.100.0/24"] })).toMatchObject({ outcome: "changed" });
      // Another one that the operator cannot use from there is of no help.
      await createKey(store, { ...admin, allowedCidrs: ["10.0.0.0/8"] });
      expect(await keys.updateKey(by, key.id, { allowedCidrs: ["10.0.0.0/8"] })).toMatchObject({ outcome: "last-admin", loss: "networks" });
      expect(await keys.updateKey(by, key.id, { expiresAt, allowedCidrs: ["10.0.0.0/8"] }, true)).toMatchObject({ outcome: "changed" });
    });

    test("may expire only before another one does", async () => {
      const store = await factory.open();
      const now = Date.now();
      const [{ key }, other] = [await createKey(store, admin), await createKey(store, { ...admin, expiresAt: now + 2 * day })];
      expect(await updateKey(store, key.id, { expiresAt: now + 2 * day })).toMatchObject({ outcome: "last-admin", loss: "time" });
      expect(await updateKey(store, key.id, { expiresAt: now + day })).toMatchObject({ outcome: "changed", key: { steppingDown: false } });
      expect(await updateKey(store, other.key.id, { expiresAt: now + day })).toMatchObject({ outcome: "last-admin" });
      expect(await updateKey(store, key.id, { expiresAt: null })).toMatchObject({ outcome: "changed" });
    });

    test("is not taken for one where there are younger ones behind very many that have ended", async () => {
      const store = await factory.open();
      const [{ key }, other] = [await createKey(store, admin), await createKey(store, admin)];
      const ended = (at: number) => ({ ...key, id: `ENDED${String(at).padStart(3, "0")}`, createdAt: at, expiresAt: 1_000 });
      for (let at = 0; at < 101; at++) await store.keys.insert(ended(at));
      expect(await revokeKey(store, key.id)).toMatchObject({ outcome: "changed" });
      expect(await revokeKey(store, other.key.id)).toMatchObject({ outcome: "last-admin" });
    });

    test("stays when two admins revoke each other at the same moment: one of them, every time", async () => {
      const [one, two] = [await factory.open(), await factory.open()];
      for (let round = 0; round < 12; round++) {
        const [a, b] = [await createKey(one, admin), await createKey(one, admin)];
        const outcomes = await Promise.all([revokeKey(one, b.key.id), revokeKey(two, a.key.id)]);
        expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(["changed", "last-admin"]);
        const states = await Promise.all([a, b].map(async ({ key }) => (await one.keys.find(key.id))?.state));
        expect(states.sort()).toEqual(["active", "revoked"]);
        for (const { key } of [a, b]) await revokeKey(one, key.id, { force: true });
      }
    });

    test("of many that are ended at once one stays", async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => factory.open()));
      const made = await Promise.all(stores.map((store) => createKey(store, admin)));
      await Promise.all(stores.map((store, i) => revokeKey(store, (made[i] as (typeof made)[0]).key.id)));
      const left = (await (stores[0] as Store).keys.list()).filter(({ state }) => state === "active");
      expect(left).toHaveLength(1);
    });

    test("a mark that a dead process left holds nobody up", async () => {
      const store = await factory.open();
      const [dead, other] = [await createKey(store, admin), await createKey(store, admin)];
      await store.keys.update(dead.key.id, 1, { steppingDown: true });
      expect(await revokeKey(store, other.key.id)).toMatchObject({ outcome: "changed" });
      expect(await store.keys.find(dead.key.id)).toMatchObject({ state: "active", steppingDown: false });
      expect(await revokeKey(store, dead.key.id)).toMatchObject({ outcome: "last-admin" });
    });

    test("counts neither disabled, expired nor rotated keys", async () => {
      const store = await factory.open();
      const { key } = await createKey(store, admin);
      for (const change of [{ state: "disabled" as const }, { expiresAt: 1 }, { validUntil: Date.now() + day, replacedBy: "0000000X" }]) {
        const other = await createKey(store, admin);
        await store.keys.update(other.key.id, 1, change);
        expect(await revokeKey(store, key.id)).toMatchObject({ outcome: "last-admin" });
      }
    });
  });

  describe(`${name}: administration`, () => {
    test("writes who did what, when and from where, and never a secret", async () => {
      const store = await factory.open();
      const told: ControlChange[] = [];
      const now = Date.now();
      const keys = administration(store, told, () => now);
      await keys.putPlan(by, "team", { rate: { limit: 5, windowSeconds: 1 }, month: { limit: 9 }, concurrency: null });
      const { key, secret } = await keys.createKey(by, spec);
      await keys.updateKey(by, key.id, { plan: "team", month: { limit: 7 } });
      await keys.setKeyState(by, key.id, "disable");
      await keys.setKeyState(by, key.id, "disable");
      await keys.setKeyState(by, key.id, "enable");
      const rotated = await keys.rotateKey(by, key.id, { overlapMs: 60_000 });
      if (rotated.outcome !== "rotated") throw new Error(rotated.outcome);
      await keys.setKeyState(by, rotated.successor.id, "revoke", true);
      expect(await keys.deletePlan(by, "team")).toBe("in-use");
      await keys.setKeyState(by, key.id, "revoke");
      expect(await keys.deletePlan(by, "team")).toBe("deleted");

      const all = await entries(store);
      expect(all.map(({ action, target }) => [action, target]).sort()).toEqual(
        [
          ["plan.put", "team"],
          ["key.create", key.id],
          ["key.update", key.id],
          ["key.disable", key.id],
          ["key.enable", key.id],
          ["key.rotate", key.id],
          ["key.revoke", rotated.successor.id],
          ["key.revoke", key.id],
          ["plan.delete", "team"],
        ].sort(),
      );
      for (const entry of all) expect(entry).toMatchObject({ ...by, at: now });
      const update = all.find(({ action }) => action === "key.update");
      expect(update?.details).toEqual({
        changes: { plan: { from: "default", to: "team" }, month: { from: null, to: { limit: 7 } } },
        version: 2,
      });
      const text = JSON.stringify(all);
      for (const hidden of [secret as string, rotated.secret as string]) expect(text).not.toContain(hidden.slice(17, 40));
      expect(text).not.toContain(key.hash);
      expect(told).toHaveLength(10);
    });

    test("changes nothing that the audit cannot take", async () => {
      const store = await factory.open();
      const { key } = await createKey(store, spec);
      const broken = { ...store, audit: { ...store.audit, append: () => Promise.reject(new Error("no room")) } };
      const keys = administration(broken);
      await expect(keys.setKeyState(by, key.id, "revoke")).rejects.toThrow("no room");
      await expect(keys.createKey(by, spec)).rejects.toThrow("no room");
      await expect(keys.rotateKey(by, key.id)).rejects.toThrow("no room");
      expect(await store.keys.list()).toEqual([key]);
    });

    test("refuses a plan that is not there, and test keys with the scope admin", async () => {
      const keys = administration(await factory.open());
      const withKey = { ...spec, label: "of nf_live_7Q9M3W8K_0123456789ABCDEFGHIJKLMNOPQRSTUV0w9J4a" };
      await expect(keys.createKey(by, withKey)).rejects.toThrow("label: contains the text of a key");
      await expect(keys.createKey(by, { ...spec, plan: "none" })).rejects.toThrow('plan "none": is not the name of a plan');
      const { key } = await keys.createKey(by, { ...spec, environment: "test" });
      await expect(keys.updateKey(by, key.id, { scopes: ["admin"] })).rejects.toThrow("scopes: must not include admin in a test key");
      await expect(keys.updateKey(by, key.id, { plan: "none", label: "" })).rejects.toThrow(KeySpecError);
      await expect(
        keys.putPlan(by, "Team", { rate: { limit: 0, windowSeconds: 1 }, month: { limit: 1 }, concurrency: null }),
      ).rejects.toThrow(/name: .*; rate: /);
    });

    test("an Idempotency-Key makes one key, whose secret only the first answer has", async () => {
      const store = await factory.open();
      const keys = administration(store);
      const first = await keys.createKey(by, spec, { key: "k1", bodyHash: "a" });
      const second = await keys.createKey(by, spec, { key: "k1", bodyHash: "a" });
      expect(first.secret).not.toBeNull();
      expect(second).toEqual({ key: first.key, secret: null });
      await expect(keys.createKey(by, spec, { key: "k1", bodyHash: "b" })).rejects.toThrow(IdempotencyConflict);
      // Another operator's is another one.
      expect((await keys.createKey({ ...by, keyId: "00000000" }, spec, { key: "k1", bodyHash: "b" })).secret).not.toBeNull();
      expect(await store.keys.list()).toHaveLength(2);
      const later = administration(store, [], () => Date.now() + day + 1_000);
      expect((await later.createKey(by, spec, { key: "k1", bodyHash: "c" })).secret).not.toBeNull();
    });

    test("requests of one Idempotency-Key at the same moment make one key and show one secret", async () => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => factory.open()));
      const made = await Promise.all(stores.map((store) => administration(store).createKey(by, spec, { key: "k1", bodyHash: "a" })));
      expect(new Set(made.map(({ key }) => key.id)).size).toBe(1);
      expect(made.filter(({ secret }) => secret !== null)).toHaveLength(1);
      expect(await (stores[0] as Store).keys.list()).toHaveLength(1);
    });

    test("a request that died after its claim is completed by the next one", async () => {
      const store = await factory.open();
      const dying = { ...store, keys: { ...store.keys, insert: () => Promise.reject(new Error("killed")) } };
      await expect(administration(dying).createKey(by, spec, { key: "k1", bodyHash: "a" })).rejects.toThrow("killed");
      const made = await administration(store).createKey(by, spec, { key: "k1", bodyHash: "a" });
      expect(secretMatches(made.secret as string, await store.keys.find(made.key.id))).toBe(true);
    });

    test("an Idempotency-Key stands for no rotation that was refused for what it says", async () => {
      const store = await factory.open();
      const keys = administration(store);
      const { key } = await keys.createKey(by, spec);
      const tooLong = { overlapMs: 31 * day };
      await expect(keys.rotateKey(by, key.id, tooLong, { key: "k1", bodyHash: "long" })).rejects.toThrow(KeySpecError);
      expect(await keys.rotateKey(by, key.id, { overlapMs: day }, { key: "k1", bodyHash: "day" })).toMatchObject({ outcome: "rotated" });
    });

    test("an Idempotency-Key rotates once", async () => {
      const store = await factory.open();
      const keys = administration(store);
      const { key } = await keys.createKey(by, spec);
      const [first, second] = [
        await keys.rotateKey(by, key.id, {}, { key: "k1", bodyHash: "a" }),
        await keys.rotateKey(by, key.id, {}, { key: "k1", bodyHash: "a" }),
      ];
      if (first.outcome !== "rotated" || second.outcome !== "rotated") throw new Error(second.outcome);
      expect(second).toEqual({ ...first, secret: null });
      expect(await store.keys.list()).toHaveLength(2);
    });

    test("an Idempotency-Key changes the state once, whatever others do afterwards, and stands for no other change", async () => {
      const store = await factory.open();
      const keys = administration(store);
      const { key } = await keys.createKey(by, spec, { key: "made", bodyHash: "create" });
      const change = (action: "disable" | "enable" | "revoke", idempotency: string, bodyHash: string = action) =>
        keys.setKeyState(by, key.id, action, false, { key: idempotency, bodyHash });
      expect(await change("disable", "d1")).toMatchObject({ outcome: "changed", key: { state: "disabled", version: 2 } });
      expect(await change("disable", "d1")).toMatchObject({ outcome: "unchanged", key: { state: "disabled", version: 2 } });
      expect(await change("enable", "e1")).toMatchObject({ outcome: "changed", key: { version: 3 } });
      expect(await change("disable", "d1")).toMatchObject({ outcome: "unchanged", key: { state: "active", version: 3 } });
      await expect(change("enable", "d1")).rejects.toThrow(IdempotencyConflict);
      await expect(change("revoke", "made")).rejects.toThrow(IdempotencyConflict);
      expect(await store.keys.find(key.id)).toMatchObject({ state: "active", version: 3 });
      expect(await change("revoke", "r1")).toMatchObject({ outcome: "changed" });
      expect(await change("revoke", "r1")).toMatchObject({ outcome: "unchanged", key: { state: "revoked" } });
    });

    test("a change of state that found nothing to change stands for its Idempotency-Key, too", async () => {
      const store = await factory.open();
      const keys = administration(store);
      const { key } = await keys.createKey(by, spec);
      const enable = () => keys.setKeyState(by, key.id, "enable", false, { key: "e1", bodyHash: "enable" });
      expect(await enable()).toMatchObject({ outcome: "unchanged" });
      await keys.setKeyState(by, key.id, "disable");
      expect(await enable()).toMatchObject({ outcome: "unchanged", key: { state: "disabled" } });
    });

    test("an Idempotency-Key stands for no change of state that was refused or did not come to its end", async () => {
      const store = await factory.open();
      const keys = administration(store);
      const { key } = await keys.createKey(by, admin);
      const disable = (of: Administration, force = false) =>
        of.setKeyState(by, key.id, "disable", force, { key: "d1", bodyHash: `force ${force}` });
      expect(await disable(keys)).toMatchObject({ outcome: "last-admin" });
      const dying = { ...store, audit: { ...store.audit, append: () => Promise.reject(new Error("killed")) } };
      await expect(disable(administration(dying), true)).rejects.toThrow("killed");
      expect(await disable(keys, true)).toMatchObject({ outcome: "changed" });

      // Killed between the mark of an admin key and its end.
      await keys.setKeyState(by, key.id, "enable");
      await keys.createKey(by, admin);
      const again = (of: Administration) => of.setKeyState(by, key.id, "disable", false, { key: "d2", bodyHash: "a" });
      await expect(again(administration(dying))).rejects.toThrow("killed");
      expect(await store.keys.find(key.id)).toMatchObject({ state: "active", steppingDown: true });
      expect(await again(keys)).toMatchObject({ outcome: "changed" });
    });

    test("a change of state that failed is carried out when it is repeated, also after others changed the key", async () => {
      const store = await factory.open();
      const keys = administration(store);
      const { key } = await keys.createKey(by, spec);
      const disable = (of: Administration) => of.setKeyState(by, key.id, "disable", false, { key: "d1", bodyHash: "a" });
      const dying = { ...store, audit: { ...store.audit, append: () => Promise.reject(new Error("away")) } };
      await expect(disable(administration(dying))).rejects.toThrow("away");
      await keys.updateKey(by, key.id, { label: "changed meanwhile" });
      expect(await disable(keys)).toMatchObject({ outcome: "changed", key: { state: "disabled" } });
      await keys.setKeyState(by, key.id, "enable");
      expect(await disable(keys)).toMatchObject({ outcome: "unchanged", key: { state: "active" } });
    });

    test("the release of an Idempotency-Key leaves that of another request", async () => {
      const { idempotency } = await factory.open();
      const claim = { id: "k1", bodyHash: "a", target: "1", expiresAt: Date.now() + day };
      expect(await idempotency.claim(claim, Date.now())).toEqual({ outcome: "claimed" });
      await idempotency.settle({ id: "k1", bodyHash: "b", target: "2" });
      await idempotency.release({ id: "k1", bodyHash: "b" });
      expect(await idempotency.claim(claim, Date.now())).toEqual({ outcome: "known", bodyHash: "a", target: "1" });
      await idempotency.settle({ ...claim, target: "3" });
      expect(await idempotency.claim(claim, Date.now())).toEqual({ outcome: "known", bodyHash: "a", target: "3" });
      await idempotency.release(claim);
      expect(await idempotency.claim({ ...claim, bodyHash: "b" }, Date.now())).toEqual({ outcome: "claimed" });
    });

    test("the audit is found by who, what, on what and when", async () => {
      const store = await factory.open();
      let now = 1_000;
      const keys = administration(store, [], () => now);
      const { key } = await keys.createKey(by, { ...spec });
      now = 2_000;
      await keys.setKeyState({ ...by, actor: "cli:root", keyId: null, address: null }, key.id, "disable");
      now = 3_000;
      await keys.setKeyState(by, key.id, "enable");
      const found = async (query: object) => (await store.audit.list({ limit: 10, ...query })).map(({ action }) => action);
      expect(await found({ actor: "cli:root" })).toEqual(["key.disable"]);
      expect(await found({ action: "key.create" })).toEqual(["key.create"]);
      expect(await found({ target: key.id, from: 2_000 })).toEqual(["key.enable", "key.disable"]);
      expect(await found({ target: "00000000" })).toEqual([]);
      const [latest] = await store.audit.list({ limit: 1 });
      expect(await found({ target: key.id, before: latest, actor: by.actor })).toEqual(["key.create"]);
    });

    test("an enabled key has no mark of a dead process left", async () => {
      const store = await factory.open();
      const { key } = await createKey(store, admin);
      await store.keys.update(key.id, 1, { steppingDown: true, state: "disabled" });
      expect(await enableKey(store, key.id)).toMatchObject({ outcome: "changed", key: { steppingDown: false } });
    });
  });
}
