/** Management of keys: what the command line and the operator's routes do to the store. Carries no permission rules of callers. */

import type { KeyRecord, KeyState } from "../key-repository.ts";
import type { Store } from "../store.ts";
import { hashKey, type Pepper } from "./key-hash.ts";
import { checkNewKey, type NewKey } from "./key-spec.ts";
import { generateKeyText, type KeyText } from "./key-text.ts";

type KeyStore = Pick<Store, "keys">;

export const defaultPlan = "default";

export interface CreatedKey {
  readonly key: KeyRecord;
  /** The whole key. It is stored nowhere: show it once. */
  readonly secret: string;
}

/** @throws KeySpecError with every fault of `spec`; StoreError. */
export async function createKey(store: KeyStore, spec: NewKey, pepper: Pepper | null = null): Promise<CreatedKey> {
  for (;;) {
    const text = generateKeyText(spec.environment ?? "live");
    const key = buildKeyRecord(spec, text, pepper);
    // Two keys of one id are next to impossible (2^40 ids), and cost one more turn.
    if ((await store.keys.insert(key)) === "inserted") return { key, secret: text.text };
  }
}

export function buildKeyRecord(spec: NewKey, text: KeyText, pepper: Pepper | null): KeyRecord {
  const now = Date.now();
  const allowedCidrs = checkNewKey(spec, now);
  return {
    id: text.id,
    ...hashKey(text.text, pepper),
    environment: text.environment,
    lastFour: text.text.slice(-4),
    label: spec.label.trim(),
    scopes: [...new Set(spec.scopes)],
    allowedCidrs,
    plan: spec.plan ?? defaultPlan,
    rate: spec.rate ?? null,
    month: spec.month ?? null,
    bucket: text.id,
    state: "active",
    createdAt: now,
    expiresAt: spec.expiresAt ?? null,
    replacedBy: null,
    validUntil: null,
    version: 1,
  };
}

/** Oldest first. */
export function listKeys(store: KeyStore): Promise<KeyRecord[]> {
  return store.keys.list();
}

export function showKey(store: KeyStore, id: string): Promise<KeyRecord | null> {
  return store.keys.find(id);
}

export type KeyStateOutcome =
  /** `unchanged`: it had this state already. */
  | { readonly outcome: "changed" | "unchanged"; readonly key: KeyRecord }
  | { readonly outcome: "absent" }
  /** Revoked is final. */
  | { readonly outcome: "revoked"; readonly key: KeyRecord }
  /** It is the last active admin key, and `force` was not given. */
  | { readonly outcome: "last-admin"; readonly key: KeyRecord };

export function disableKey(store: KeyStore, id: string, options: { readonly force?: boolean } = {}): Promise<KeyStateOutcome> {
  return changeState(store, id, "disabled", options.force ?? false);
}

export function enableKey(store: KeyStore, id: string): Promise<KeyStateOutcome> {
  return changeState(store, id, "active", true);
}

export function revokeKey(store: KeyStore, id: string, options: { readonly force?: boolean } = {}): Promise<KeyStateOutcome> {
  return changeState(store, id, "revoked", options.force ?? false);
}

async function changeState(store: KeyStore, id: string, state: KeyState, force: boolean): Promise<KeyStateOutcome> {
  let key = await store.keys.find(id);
  for (;;) {
    if (key === null) return { outcome: "absent" };
    if (key.state === state) return { outcome: "unchanged", key };
    if (key.state === "revoked") return { outcome: "revoked", key };
    if (!force && (await isLastAdmin(store, key))) return { outcome: "last-admin", key };
    const update = await store.keys.update(id, key.version, { state });
    if (update.outcome === "updated") return { outcome: "changed", key: update.key };
    key = update.outcome === "conflict" ? update.key : null;
  }
}

async function isLastAdmin(store: KeyStore, key: KeyRecord): Promise<boolean> {
  const now = Date.now();
  const admits = (other: KeyRecord): boolean =>
    other.state === "active" && other.scopes.includes("admin") && (other.expiresAt === null || other.expiresAt > now);
  if (!admits(key)) return false;
  return !(await store.keys.list()).some((other) => other.id !== key.id && admits(other));
}
