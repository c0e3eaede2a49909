/** Single changes of keys, as a store keeps them. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createKey, disableKey, displayKey, enableKey, KeySpecError, revokeKey } from "@netfacts/keys";
import { openSqliteStore, type Store } from "../src/index.ts";

describe("management", () => {
  let store: Store;
  beforeAll(async () => {
    store = await openSqliteStore(":memory:");
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    for (const { id } of await store.keys.list()) await revokeKey(store, id, { force: true });
  });

  test("tells every fault of a wanted key at once", async () => {
    const wanted = {
      label: "\n",
      scopes: ["admin" as const],
      environment: "test" as const,
      allowedCidrs: ["193.0.6.139/21", "nonsense"],
      rate: { limit: 0, windowSeconds: 60 },
      month: { limit: 1.5 },
      expiresAt: 1,
    };
    const error: unknown = await createKey(store, wanted).catch((reason: unknown) => reason);
    if (!(error instanceof KeySpecError)) throw error;
    expect(error.faults).toHaveLength(7);
    expect(error.message).toContain("did you mean 193.0.0.0/21?");
  });

  test("a label has at most 100 characters, whatever each of them takes", async () => {
    const label = "\u{1f5dd}".repeat(100);
    expect((await createKey(store, { label, scopes: ["ip"] })).key.label).toBe(label);
    await expect(createKey(store, { label: `${label}a`, scopes: ["ip"] })).rejects.toThrow("must be 1 to 100 characters");
  });

  test("shows a key by prefix, id and last four only", async () => {
    const { key, secret } = await createKey(store, { label: "a", scopes: ["ip"] });
    expect(displayKey(key)).toBe(`nf_live_${key.id}_…${secret.slice(-4)}`);
  });

  test("disables, enables and revokes, once and for all", async () => {
    const { key } = await createKey(store, { label: "a", scopes: ["ip"] });
    expect(await disableKey(store, key.id)).toMatchObject({ outcome: "changed", key: { state: "disabled", version: 2 } });
    expect(await disableKey(store, key.id)).toMatchObject({ outcome: "unchanged", key: { version: 2 } });
    expect(await enableKey(store, key.id)).toMatchObject({ outcome: "changed", key: { state: "active" } });
    expect(await revokeKey(store, key.id)).toMatchObject({ outcome: "changed", key: { state: "revoked" } });
    expect(await enableKey(store, key.id)).toMatchObject({ outcome: "revoked" });
    expect(await disableKey(store, "00000000")).toEqual({ outcome: "absent" });
    expect(await store.keys.find(key.id)).toMatchObject({ state: "revoked" });
  });

  test("keeps the last active admin key unless forced", async () => {
    const [one, two] = [
      await createKey(store, { label: "one", scopes: ["admin"] }),
      await createKey(store, { label: "two", scopes: ["admin"] }),
    ];
    expect(await disableKey(store, one.key.id)).toMatchObject({ outcome: "changed" });
    expect(await revokeKey(store, two.key.id)).toMatchObject({ outcome: "last-admin" });
    expect(await store.keys.find(two.key.id)).toMatchObject({ state: "active" });
    expect(await revokeKey(store, two.key.id, { force: true })).toMatchObject({ outcome: "changed" });
  });
});
