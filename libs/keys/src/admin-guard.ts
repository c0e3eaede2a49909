/**
 * Keeps the last active admin key, even if several are ended at the same moment, and without transactions.
 *
 * To end an admin key, a process marks it first (`steppingDown`), and then looks for another one that stays. The end is written only over the marked
 * version. So if two processes end each other's key, the one that looks second finds the first key marked or ended. If another process removes a
 * mark, or a process dies after marking, the worst case is that the change must start again. No clock is involved.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { KeyRecord } from "./key-repository.ts";
import type { KeyStore } from "./key-store.ts";

type Keys = Pick<KeyStore, "keys">;
type IsEnough = (key: KeyRecord) => boolean;

/** Keys of one read: keys that were replaced or have expired are still active, and after a rotation by plan there are many. */
const keysRead = 100;
/** After this many rounds in which all keys are stepping down, marks of others are removed: one may be left by a process that died. */
const patience = 4;
const pauseMsMax = 50;

export type StepDown =
  /** The key as it is marked now: its end may be written over this version. */
  | { readonly outcome: "may-end"; readonly key: KeyRecord }
  | { readonly outcome: "last"; readonly key: KeyRecord }
  /** Somebody changed the key meanwhile. */
  | { readonly outcome: "conflict" };

/**
 * Prepares the end of an admin key, or a similar loss (`admin-loss.ts`).
 *
 * @param isEnough  whether operators can use this key instead.
 */
export async function stepDown({ keys }: Keys, found: KeyRecord, isEnough: IsEnough): Promise<StepDown> {
  let key = found;
  for (let round = 0; ; round++) {
    const marked = await keys.update(key.id, key.version, { steppingDown: true });
    if (marked.outcome !== "updated") return { outcome: "conflict" };
    const others = (await operatorKeys({ keys }, isEnough)).filter(({ id }) => id !== key.id);
    if (others.some(({ steppingDown }) => !steppingDown)) return { outcome: "may-end", key: marked.key };
    // All others are stepping down, too: the first by id may end at once, so that one of the changes succeeds.
    if (others.length > 0 && (round >= patience || others.every(({ id }) => key.id < id)) && (await keepOne({ keys }, others, isEnough))) {
      return { outcome: "may-end", key: marked.key };
    }
    const back = await keys.update(key.id, marked.key.version, { steppingDown: false });
    if (back.outcome !== "updated") return { outcome: "conflict" };
    if (others.length === 0) return { outcome: "last", key: back.key };
    key = back.key;
    await pause();
  }
}

async function operatorKeys({ keys }: Keys, isEnough: IsEnough): Promise<KeyRecord[]> {
  const admitted: KeyRecord[] = [];
  let after: KeyRecord | undefined;
  for (;;) {
    const page = await keys.page({ limit: keysRead, scope: "admin", state: "active", ...(after !== undefined && { after }) });
    for (const key of page) if (isEnough(key)) admitted.push(key);
    if (page.length < keysRead) return admitted;
    after = page.at(-1);
  }
}

/** Removes the mark of one of these keys, so that its end must start again. */
async function keepOne({ keys }: Keys, marked: readonly KeyRecord[], isEnough: IsEnough): Promise<boolean> {
  for (const { id, version } of marked) {
    const kept = await keys.update(id, version, { steppingDown: false });
    if (kept.outcome === "updated" && isEnough(kept.key)) return true;
  }
  return false;
}

/** Waits for a random time: two processes that make each other's writes fail must not repeat them in step. */
export async function pause(): Promise<void> {
  await sleep(Math.random() * pauseMsMax);
}
