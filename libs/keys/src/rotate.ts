/** Rotation: a successor with the same scopes, limits and usage, while the old key still works for some time. */

import { isDeepStrictEqual } from "node:util";
import { type ChangeOptions, changeKey } from "./change-key.ts";
import { hashKey, type Pepper } from "./key-hash.ts";
import type { KeyEdit, KeyRecord } from "./key-repository.ts";
import { KeySpecError, specFault } from "./key-spec.ts";
import type { KeyStore } from "./key-store.ts";
import { generateKeyText, type KeyText } from "./key-text.ts";

const overlapDefaultMs = 86_400_000;
const overlapMaxMs = 30 * 86_400_000;

export interface RotateOptions extends Omit<ChangeOptions, "beforeWrite" | "force"> {
  /** Time that the old key still works: 0 to 30 days; default: a day. */
  readonly overlapMs?: number;
  /** Expiry of the successor, Unix milliseconds; null: never; absent: that of the old key. */
  readonly expiresAt?: number | null;
  readonly pepper?: Pepper | null;
  /** The id of the successor, unless a key with this id was revoked; absent: a random one. */
  readonly successorId?: string;
  /** Called before anything is written. */
  readonly beforeWrite?: (old: KeyRecord, successor: KeyRecord) => Promise<void>;
}

export type RotateOutcome =
  /** `secret`: null if an earlier, incomplete call had created this successor. */
  | { readonly outcome: "rotated"; readonly old: KeyRecord; readonly successor: KeyRecord; readonly secret: string | null }
  | { readonly outcome: "absent" }
  /** `replaced`: it already has a successor; `unusable`: disabled, or expired. */
  | { readonly outcome: "revoked" | "replaced" | "unusable"; readonly key: KeyRecord };

/**
 * Creates the successor, then ends the old key. A process that dies in between leaves a successor whose secret nobody knows.
 *
 * @throws KeySpecError for an overlap or expiry out of bounds.
 */
export async function rotateKey(store: Pick<KeyStore, "keys">, id: string, options: RotateOptions = {}): Promise<RotateOutcome> {
  const { overlapMs = overlapDefaultMs, now = Date.now() } = options;
  checkRotation(options, now);
  const old = await store.keys.find(id);
  if (old === null) return { outcome: "absent" };
  const refusal = refusalOf(old, now);
  if (refusal !== null) return { outcome: refusal, key: old };

  const text = generateKeyText(old.environment, await usableId(store, options.successorId));
  const successor = successorOf(old, text, options.pepper ?? null, now, options.expiresAt);
  await options.beforeWrite?.(old, successor);
  // `exists`: from an earlier call with this id, as random ids do not collide.
  const isNew = (await store.keys.insert(successor)) === "inserted";
  const ended = await changeKey<"replaced" | "unusable">(
    store,
    id,
    (key) => {
      const refused = refusalOf(key, now);
      if (refused === "replaced" || refused === "unusable") return refused;
      return { replacedBy: text.id, rotatedAt: now, validUntil: now + overlapMs };
    },
    // `force`: the successor replaces it as an admin key.
    { now, force: true },
  );
  if (ended.outcome === "changed") {
    // If something was taken away from the old key meanwhile, it must be taken away from its successor, too.
    const change = (made: KeyRecord): KeyEdit | null => inherited(ended.key, made, options.expiresAt);
    const made = await changeKey<never>(store, text.id, change, { force: true });
    return { outcome: "rotated", old: ended.key, successor: "key" in made ? made.key : successor, secret: isNew ? text.text : null };
  }
  // Another change was quicker: nobody has seen this successor's secret, or will see it.
  if (isNew) await changeKey<never>(store, text.id, () => ({ state: "revoked" }), { force: true });
  return ended.outcome === "absent" || ended.outcome === "unchanged"
    ? { outcome: "absent" }
    : { outcome: refusedAs(ended.outcome), key: ended.key };
}

/** A successor that was left by an earlier attempt and then revoked must not become the replacement of a working key. */
async function usableId({ keys }: Pick<KeyStore, "keys">, id: string | undefined): Promise<string | undefined> {
  return id !== undefined && (await keys.find(id))?.state === "revoked" ? undefined : id;
}

function refusedAs(outcome: "revoked" | "replaced" | "unusable" | "last-admin"): "revoked" | "replaced" | "unusable" {
  return outcome === "last-admin" ? "unusable" : outcome;
}

/** @throws KeySpecError */
export function checkRotation(
  { overlapMs = overlapDefaultMs, expiresAt }: Pick<RotateOptions, "overlapMs" | "expiresAt">,
  now: number,
): void {
  const faults = [];
  if (!(overlapMs >= 0 && overlapMs <= overlapMaxMs))
    faults.push(specFault("overlap_seconds", "must be 0 to 30 days (2592000)", "overlap"));
  if (typeof expiresAt === "number" && !(expiresAt > now)) faults.push(specFault("expires_at", "must be in the future", "expiry"));
  if (faults.length > 0) throw new KeySpecError(faults);
}

function refusalOf(key: KeyRecord, now: number): "revoked" | "replaced" | "unusable" | null {
  if (key.state === "revoked") return "revoked";
  if (key.replacedBy !== null) return "replaced";
  return key.state === "disabled" || (key.expiresAt !== null && key.expiresAt <= now) ? "unusable" : null;
}

const inheritedMembers = ["label", "scopes", "allowedCidrs", "plan", "rate", "month", "concurrency", "expiresAt"] as const;

/** The members in which the old key differs from its successor; null: none. */
function inherited(old: KeyRecord, successor: KeyRecord, expiresAt: number | null | undefined): KeyEdit | null {
  const differing = inheritedMembers.filter(
    (member) => !(member === "expiresAt" && expiresAt !== undefined) && !isDeepStrictEqual(old[member], successor[member]),
  );
  return differing.length === 0 ? null : Object.fromEntries(differing.map((member) => [member, old[member]]));
}

function successorOf(old: KeyRecord, text: KeyText, pepper: Pepper | null, now: number, expiresAt?: number | null): KeyRecord {
  return {
    ...old,
    id: text.id,
    ...hashKey(text.text, pepper),
    lastFour: text.text.slice(-4),
    createdAt: now,
    expiresAt: expiresAt === undefined ? old.expiresAt : expiresAt,
    steppingDown: false,
    version: 1,
  };
}
