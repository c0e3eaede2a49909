/** The first key of an installation: created once, whatever happens between its two writes (docs/design/protocols.md#keys). */

import { type Scope, scopes } from "@netfacts/contracts";
import { auditKey } from "./audit-details.ts";
import type { Pepper } from "./key-hash.ts";
import { KeySpecError, specFault } from "./key-spec.ts";
import type { KeyStore } from "./key-store.ts";
import { generateKeyText, parseKeyText } from "./key-text.ts";
import { buildKeyRecord, type CreatedKey } from "./manage.ts";

/** Every scope that only reads: all but `admin`. */
export const readScopes: readonly Scope[] = scopes.filter((scope) => scope !== "admin");

export interface FirstKeyOptions {
  readonly label?: string;
  /** Default: `readScopes`. */
  readonly scopes?: readonly Scope[];
  readonly pepper?: Pepper | null;
  /** The key itself, from a secret of the cluster; generated if absent. */
  readonly key?: string;
}

/**
 * Creates the first key.
 *
 * Writes the marker first, then the key. If a start dies in between, its marker has no key, and the next start creates it with the same id. A marker
 * with its key is final, whatever the state of that key, and whatever key is given.
 *
 * @returns the key with its secret if this call created it; null if the installation already had its first key.
 * @throws KeySpecError for an invalid given key, or one that is not that of the unfinished start.
 */
export async function createFirstKey(
  store: Pick<KeyStore, "keys" | "bootstrap" | "audit">,
  options: FirstKeyOptions = {},
): Promise<CreatedKey | null> {
  const given = options.key === undefined ? null : parseKeyText(options.key);
  if (options.key !== undefined && given === null) {
    throw new KeySpecError([specFault("first key", "the text is not a key (nf_live_… or nf_test_…), or has a typing error")]);
  }
  const { keyId } = await store.bootstrap.claim((given ?? generateKeyText("live")).id);
  if ((await store.keys.find(keyId)) !== null) return null;
  if (given !== null && given.id !== keyId) {
    throw new KeySpecError([
      specFault("first key", `an earlier start began with key ${keyId} and did not finish; use that key, not ${given.id}`),
    ]);
  }
  const text = given ?? generateKeyText("live", keyId);
  const spec = { label: options.label ?? "first key", scopes: options.scopes ?? readScopes, environment: text.environment };
  const key = buildKeyRecord(spec, text, options.pepper ?? null);
  const by = { actor: "bootstrap", address: null, keyId: null };
  await store.audit.append({ at: key.createdAt, ...by, action: "key.create", target: key.id, details: auditKey(key) });
  // `exists`: another start completed the same marker first, and has shown its secret.
  return (await store.keys.insert(key)) === "inserted" ? { key, secret: text.text } : null;
}
