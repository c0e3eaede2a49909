/** Management of keys: the changes that the command line and the operator's routes make in the store. The caller checks permissions. */

import { isDeepStrictEqual } from "node:util";
import { type ChangeOptions, changeKey, type KeyOutcome } from "./change-key.ts";
import { hashKey, type Pepper } from "./key-hash.ts";
import type { KeyEdit, KeyRecord, KeyState } from "./key-repository.ts";
import { checkKey, checkNewKey, type KeyPatch, type NewKey } from "./key-spec.ts";
import type { KeyStore } from "./key-store.ts";
import { generateKeyText, type KeyText } from "./key-text.ts";

type Keys = Pick<KeyStore, "keys">;

export const defaultPlan = "default";

export interface CreatedKey {
  readonly key: KeyRecord;
  /** The whole key. It is stored nowhere: show it once. */
  readonly secret: string;
}

/** @throws KeySpecError with every fault of `spec`; StoreError. */
export async function createKey(store: Keys, spec: NewKey, pepper: Pepper | null = null): Promise<CreatedKey> {
  for (;;) {
    const text = generateKeyText(spec.environment ?? "live");
    const key = buildKeyRecord(spec, text, pepper);
    // Two keys with one id are next to impossible (2^40 ids); the loop then generates another one.
    if ((await store.keys.insert(key)) === "inserted") return { key, secret: text.text };
  }
}

/** @throws KeySpecError */
export function buildKeyRecord(spec: NewKey, text: KeyText, pepper: Pepper | null, now: number = Date.now()): KeyRecord {
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
    concurrency: spec.concurrency ?? null,
    bucket: text.id,
    state: "active",
    createdAt: now,
    expiresAt: spec.expiresAt ?? null,
    replacedBy: null,
    rotatedAt: null,
    validUntil: null,
    steppingDown: false,
    version: 1,
  };
}

export function disableKey(store: Keys, id: string, options: ChangeOptions = {}): Promise<KeyOutcome> {
  return changeState(store, id, "disabled", options);
}

export function enableKey(store: Keys, id: string, options: ChangeOptions = {}): Promise<KeyOutcome> {
  return changeState(store, id, "active", options);
}

export function revokeKey(store: Keys, id: string, options: ChangeOptions = {}): Promise<KeyOutcome> {
  return changeState(store, id, "revoked", options);
}

function changeState(store: Keys, id: string, state: KeyState, options: ChangeOptions): Promise<KeyOutcome> {
  return changeKey<never>(store, id, (key) => (key.state === state ? null : { state }), options);
}

/**
 * Changes the scopes, networks, limits or expiry of a key. A limit of null becomes that of the plan.
 *
 * @throws KeySpecError with every fault of `patch`.
 */
export async function updateKey(store: Keys, id: string, patch: KeyPatch, options: ChangeOptions = {}): Promise<KeyOutcome> {
  const now = options.now ?? Date.now();
  const decide = (key: KeyRecord): KeyEdit | null => {
    const allowedCidrs = checkKey(patch, key.environment, now);
    const change: KeyEdit = {
      ...patch,
      ...(patch.label !== undefined && { label: patch.label.trim() }),
      ...(patch.scopes !== undefined && { scopes: [...new Set(patch.scopes)] }),
      ...(patch.allowedCidrs !== undefined && { allowedCidrs }),
    };
    const differing = Object.entries(change).filter(([member, value]) => !isDeepStrictEqual(key[member as keyof KeyRecord], value));
    return differing.length === 0 ? null : (Object.fromEntries(differing) as KeyEdit);
  };
  return changeKey<never>(store, id, decide, options);
}
