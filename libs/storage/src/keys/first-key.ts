/** The first key of an installation: made once, whatever happens between its two writes (PROTOCOLS, "Keys": bootstrap). */

import type { Scope } from "@netfacts/contracts";
import type { Store } from "../store.ts";
import type { Pepper } from "./key-hash.ts";
import { generateKeyText } from "./key-text.ts";
import { buildKeyRecord, type CreatedKey } from "./manage.ts";

/** Every scope that only reads: all but `admin`. */
export const readScopes: readonly Scope[] = ["ip", "routing", "asn", "prefix", "reverse_dns", "batch"];

/**
 * Makes the first key, with every read scope and not `admin`.
 *
 * Marker first, then the key: a start that died in between leaves a marker without its key, which the next start completes
 * under the same id; a marker with its key is final, whatever that key's state is now.
 *
 * @returns the key with its secret when this call made it; null when the installation had its first key before.
 */
export async function createFirstKey(
  store: Pick<Store, "keys" | "bootstrap">,
  options: { readonly label?: string; readonly pepper?: Pepper | null } = {},
): Promise<CreatedKey | null> {
  const { keyId } = await store.bootstrap.claim(generateKeyText("live").id);
  if ((await store.keys.find(keyId)) !== null) return null;
  const text = generateKeyText("live", keyId);
  const key = buildKeyRecord({ label: options.label ?? "first key", scopes: readScopes }, text, options.pepper ?? null);
  // `exists`: another start completed the same marker first, and has shown its secret.
  return (await store.keys.insert(key)) === "inserted" ? { key, secret: text.text } : null;
}
