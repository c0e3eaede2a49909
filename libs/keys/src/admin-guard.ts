/**
 * The last active admin key stays, also when several are ended at the same moment, and without transactions.
 *
 * Whoever wants to end an admin key marks it first (`steppingDown`), and then looks for another one that stays. The end is written over the
 * marked version only. So of two that end each other's key, whichever looks second finds the first marked or ended; and a mark that
 * somebody took away, or a process that died after marking, only makes that change start again. No clock is involved.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { KeyRecord } from "./key-repository.ts";
import type { KeyStore } from "./key-store.ts";

type Keys = Pick<KeyStore, "keys">;
type IsEnough = (key: KeyRecord) => boolean;

/** Keys that are read at a time: those that were replaced or have expired are active still, and of a rotation by plan they are many. */
const keysRead = 100;
/** After so many rounds of all stepping down at once, marks of others are taken away: one may be that of a process that died. */
const patience = 4;
const pauseMsMax = 50;

export type StepDown =
  /** The key as it is marked now: its end may be written over this version. */
  | { readonly outcome: "may-end"; readonly key: KeyRecord }
  | { readonly outcome: "last"; readonly key: KeyRecord }
  /** Somebody changed it meanwhile. */
  | { readonly outcome: "conflict" };

/**
 * Prepares the end of an admin key, or what comes near it (`admin-loss.ts`).
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
    // All others are on their way out: the first by id may have its way at once, so that one of them does.
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

/** Takes the mark off one of these, so that its end must begin again. */
async function keepOne({ keys }: Keys, marked: readonly KeyRecord[], isEnough: IsEnough): Promise<boolean> {
  for (const { id, version } of marked) {
    const kept = await keys.update(id, version, { steppingDown: false });
    if (kept.outcome === "updated" && isEnough(kept.key)) return true;
  }
  return false;
}

/** Two that fail each other's writes must not do so in step. */
export async function pause(): Promise<void> {
  await sleep(Math.random() * pauseMsMax);
}
