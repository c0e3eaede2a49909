/** The first key of a new installation, out of a secret (docs/design/protocols.md#keys). */

import { createFirstKey, displayKey, type Pepper } from "@netfacts/keys";
import { type Store, StoreError } from "@netfacts/storage";
import type { RequestLog } from "../edge/observe.ts";

/**
 * Makes the key with the scope `admin` only, unless this installation had its first key before: that one is final, whatever its state is.
 *
 * @param key  the whole key; empty: none was given, and nothing happens.
 * @throws KeySpecError for a key that is none, or not the one with which an unfinished start began.
 */
export async function ensureFirstAdminKey(
  store: Pick<Store, "keys" | "bootstrap" | "audit">,
  key: string,
  log: RequestLog,
  pepper: Pepper | null = null,
): Promise<void> {
  if (key === "") return;
  const created = await createFirstKey(store, { key, label: "first admin key", scopes: ["admin"], pepper }).catch((error: unknown) => {
    // Not valid any more: the installation had its first key, and a gateway serves the other ones.
    if (error instanceof StoreError && error.fault === "invalid") return null;
    throw error;
  });
  if (created !== null) log.info({ key: displayKey(created.key) }, "first admin key created");
  else log.info({}, "ADMIN_KEY has no effect, because this installation already has a first key");
}
