/** The first key of a new installation, from a configured secret (docs/design/protocols.md#keys). */

import { createFirstKey, displayKey, type Pepper } from "@netfacts/keys";
import { type Store, StoreError } from "@netfacts/storage";
import type { RequestLog } from "../edge/observe.ts";

/**
 * Makes the key, with only the scope `admin`. Does nothing if this installation already had a first key, whatever the state of that key.
 *
 * @param key  the whole key; empty: none is configured, and nothing happens.
 * @throws KeySpecError if the text is not a key, or if an unfinished start began with another key.
 */
export async function ensureFirstAdminKey(
  store: Pick<Store, "keys" | "bootstrap" | "audit">,
  key: string,
  log: RequestLog,
  pepper: Pepper | null = null,
): Promise<void> {
  if (key === "") return;
  const created = await createFirstKey(store, { key, label: "first admin key", scopes: ["admin"], pepper }).catch((error: unknown) => {
    // The record of the first key is invalid. The installation has had that key, and the gateway serves the others.
    if (error instanceof StoreError && error.fault === "invalid") return null;
    throw error;
  });
  if (created !== null) log.info({ key: displayKey(created.key) }, "first admin key created");
  else log.info({}, "ADMIN_KEY has no effect, because this installation already has a first key");
}
