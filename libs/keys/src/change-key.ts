/**
 * One change of one key: reads it, decides, notes the change, and writes it over the version that was read; repeats this if another writer was
 * quicker.
 */

import { pause, stepDown } from "./admin-guard.ts";
import { type AdminLoss, adminLoss } from "./admin-loss.ts";
import type { KeyEdit, KeyRecord } from "./key-repository.ts";
import type { KeyStore } from "./key-store.ts";

export interface ChangeOptions {
  /** Allows the change even for the last active admin key. Default: false. */
  readonly force?: boolean;
  /** Unix milliseconds. Default: the current time. */
  readonly now?: number;
  /** Address of the operator, which new networks must not exclude. Default: null, unknown. */
  readonly address?: string | null;
  /**
   * Called just before the key is written, with the key before and after the change. If it rejects, nothing is written. If another writer is quicker,
   * it is called again with the new values.
   */
  readonly beforeWrite?: (before: KeyRecord, after: KeyRecord) => Promise<void>;
}

export type KeyOutcome<Refusal extends string = never> =
  /** `unchanged`: there was nothing to change. */
  | { readonly outcome: "changed" | "unchanged"; readonly key: KeyRecord }
  | { readonly outcome: "absent" }
  /** Revoked is final. */
  | { readonly outcome: "revoked"; readonly key: KeyRecord }
  /** It is the last active admin key, and `force` was not given; `loss` is what operators would lose. */
  | { readonly outcome: "last-admin"; readonly key: KeyRecord; readonly loss: AdminLoss["of"] }
  | { readonly outcome: Refusal; readonly key: KeyRecord };

/** @param decide  the change; null: there is nothing to change; text: the reason for a refusal. Called again when another writer was quicker. */
export async function changeKey<Refusal extends string = never>(
  store: Pick<KeyStore, "keys">,
  id: string,
  decide: (key: KeyRecord) => KeyEdit | null | Refusal,
  options: ChangeOptions = {},
): Promise<KeyOutcome<Refusal>> {
  const now = options.now ?? Date.now();
  for (;;) {
    const found = await store.keys.find(id);
    if (found === null) return { outcome: "absent" };
    const change = decide(found);
    if (change === null) return { outcome: "unchanged", key: found };
    if (found.state === "revoked") return { outcome: "revoked", key: found };
    if (typeof change === "string") return { outcome: change, key: found };
    let key = found;
    const loss = options.force === true ? null : adminLoss(found, { ...found, ...change }, now, options.address ?? null);
    if (loss !== null) {
      const step = await stepDown(store, found, loss.isMadeUpBy);
      if (step.outcome === "last") return { outcome: "last-admin", key: step.key, loss: loss.of };
      if (step.outcome === "conflict") {
        await pause();
        continue;
      }
      key = step.key;
    }
    // Removes the mark as well, also one that was left by a process that died.
    const whole: KeyEdit = key.steppingDown ? { ...change, steppingDown: false } : change;
    await options.beforeWrite?.(found, { ...key, ...whole, version: key.version + 1 });
    const update = await store.keys.update(id, key.version, whole);
    if (update.outcome === "updated") return { outcome: "changed", key: update.key };
    if (loss !== null) await pause();
  }
}
