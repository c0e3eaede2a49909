/** The operators' changes of keys and plans, from any source: checked, audited and announced. The caller checks permissions. */

import { createHash } from "node:crypto";
import type { AuditAction } from "@netfacts/contracts";
import { auditChanges, auditKey, auditLimits } from "./audit-details.ts";
import type { KeyOutcome } from "./change-key.ts";
import type { Pepper } from "./key-hash.ts";
import type { KeyLimits, KeyRecord } from "./key-repository.ts";
import { checkPlan, type KeyPatch, KeySpecError, type NewKey, specFault } from "./key-spec.ts";
import type { KeyStore } from "./key-store.ts";
import { generateKeyText } from "./key-text.ts";
import { buildKeyRecord, defaultPlan, disableKey, enableKey, revokeKey, updateKey } from "./manage.ts";
import type { PlanRecord } from "./plan-repository.ts";
import { checkRotation, type RotateOptions, type RotateOutcome, rotateKey } from "./rotate.ts";

/** The operator, the address, and the key, as in the audit. */
export interface Operator {
  readonly actor: string;
  readonly address: string | null;
  readonly keyId: string | null;
}

/** A change, for the broadcast. */
export type ControlChange = { readonly keyId: string; readonly version: number } | { readonly plan: string; readonly version: number };

export interface AdministrationOptions {
  readonly store: Pick<KeyStore, "keys" | "plans" | "audit" | "idempotency">;
  readonly pepper: Pepper | null;
  /** Called after each write that other processes must learn of. */
  readonly changed: (change: ControlChange) => void;
  /** Unix milliseconds. Default: the current time. */
  readonly now?: () => number;
}

/** An Idempotency-Key, and a digest of the whole request that used it. */
export interface Idempotency {
  readonly key: string;
  readonly bodyHash: string;
}

/** The Idempotency-Key was used before, for another request. */
export class IdempotencyConflict extends Error {
  override readonly name = "IdempotencyConflict";
}

export interface CreateOutcome {
  readonly key: KeyRecord;
  /** Null: the same request created this key before, and its answer showed the secret. */
  readonly secret: string | null;
}

/** `unwritten`: the plan is `default` and was never written, which is the state after a deletion. */
export type DeletePlanOutcome = "deleted" | "unwritten" | "absent" | "in-use";

/** States of the Idempotency-Key of a change of state: the change was begun, or was completed. */
const begun = "begun";
const made = "made";

type KeyAction = "disable" | "enable" | "revoke";

const idempotencyMs = 86_400_000;

/**
 * Every change is written to the audit first: if that fails, nothing is changed. An entry's `details.version` is the version of the key or plan after
 * the change. Methods reject with `KeySpecError` for invalid input, `IdempotencyConflict`, and `StoreError`.
 */
export class Administration {
  readonly #store: AdministrationOptions["store"];
  readonly #pepper: Pepper | null;
  readonly #changed: AdministrationOptions["changed"];
  readonly #now: () => number;

  constructor({ store, pepper, changed, now = Date.now }: AdministrationOptions) {
    this.#store = store;
    this.#pepper = pepper;
    this.#changed = changed;
    this.#now = now;
  }

  async createKey(by: Operator, spec: NewKey, idempotency?: Idempotency): Promise<CreateOutcome> {
    let text = generateKeyText(spec.environment ?? "live");
    let record = buildKeyRecord(spec, text, this.#pepper, this.#now());
    await this.#checkPlanOf(spec);
    const target = idempotency === undefined ? text.id : await this.#claim(by, idempotency, text.id);
    if (target !== text.id) {
      const made = await this.#store.keys.find(target);
      if (made !== null) return { key: made, secret: null };
      // The first request was not completed: the key is created now, with the id of its claim.
      text = generateKeyText(text.environment, target);
      record = buildKeyRecord(spec, text, this.#pepper, this.#now());
    }
    await this.#note(by, "key.create", text.id, auditKey(record));
    if ((await this.#store.keys.insert(record)) === "exists") {
      // An equal request at the same time was first; random ids do not collide.
      const made = await this.#store.keys.find(text.id);
      return { key: made ?? record, secret: null };
    }
    this.#changed({ keyId: record.id, version: record.version });
    return { key: record, secret: text.text };
  }

  async updateKey(by: Operator, id: string, patch: KeyPatch, force = false): Promise<KeyOutcome> {
    await this.#checkPlanOf(patch);
    return this.#announce(
      await updateKey(this.#store, id, patch, {
        force,
        now: this.#now(),
        address: by.address,
        beforeWrite: (before, after) => this.#note(by, "key.update", id, { ...auditChanges(before, after), ...forced(force) }),
      }),
    );
  }

  /**
   * Also `unchanged` if the request of this Idempotency-Key was carried out before; the key is then as later changes left it. A request with an
   * unknown outcome, for example because its process died, is carried out again.
   */
  async setKeyState(by: Operator, id: string, action: KeyAction, force = false, idempotency?: Idempotency): Promise<KeyOutcome> {
    const key = idempotency === undefined ? null : await this.#store.keys.find(id);
    if (idempotency !== undefined && key !== null && (await this.#claim(by, idempotency, begun)) === made)
      return { outcome: "unchanged", key };
    const change = { disable: disableKey, enable: enableKey, revoke: revokeKey }[action];
    const outcome = this.#announce(
      await change(this.#store, id, {
        force,
        now: this.#now(),
        beforeWrite: (before, after) => this.#note(by, `key.${action}`, id, { ...auditChanges(before, after), ...forced(force) }),
      }),
    );
    if (idempotency === undefined) return outcome;
    const claim = { id: claimId(by, idempotency), bodyHash: idempotency.bodyHash };
    if (outcome.outcome === "changed" || outcome.outcome === "unchanged") await this.#store.idempotency.settle({ ...claim, target: made });
    // A refused request may be repeated with the same Idempotency-Key, also with `force`.
    else await this.#store.idempotency.release(claim);
    return outcome;
  }

  async rotateKey(
    by: Operator,
    id: string,
    options: Pick<RotateOptions, "overlapMs" | "expiresAt"> = {},
    idempotency?: Idempotency,
  ): Promise<RotateOutcome> {
    const now = this.#now();
    // Checked before the claim: an invalid request must not use up the Idempotency-Key.
    checkRotation(options, now);
    const drawn = generateKeyText("live").id;
    const successorId = idempotency === undefined ? drawn : await this.#claim(by, idempotency, drawn);
    if (successorId !== drawn) {
      const [old, successor] = await Promise.all([this.#store.keys.find(id), this.#store.keys.find(successorId)]);
      if (old?.replacedBy === successorId && successor !== null) return { outcome: "rotated", old, successor, secret: null };
    }
    const rotated = await rotateKey(this.#store, id, {
      ...options,
      now,
      pepper: this.#pepper,
      successorId,
      beforeWrite: (old, successor) =>
        this.#note(by, "key.rotate", id, {
          successor: successor.id,
          overlap_seconds: options.overlapMs === undefined ? null : options.overlapMs / 1_000,
          version: old.version + 1,
        }),
    });
    if (rotated.outcome === "rotated") {
      for (const key of [rotated.successor, rotated.old]) this.#changed({ keyId: key.id, version: key.version });
    }
    return rotated;
  }

  async putPlan(by: Operator, name: string, limits: KeyLimits): Promise<PlanRecord> {
    checkPlan(name, limits);
    const before = await this.#store.plans.find(name);
    await this.#note(by, "plan.put", name, {
      from: before === null ? null : auditLimits(before),
      to: auditLimits(limits),
      version: (before?.version ?? 0) + 1,
    });
    const plan = await this.#store.plans.put({ ...limits, name, updatedAt: this.#now() });
    this.#changed({ plan: name, version: plan.version });
    return plan;
  }

  /** A plan that keys refer to is not deleted; `default` may be deleted at any time, as there is always one. Revoked keys do not count. */
  async deletePlan(by: Operator, name: string): Promise<DeletePlanOutcome> {
    const plan = await this.#store.plans.find(name);
    const absent = name === defaultPlan ? "unwritten" : "absent";
    if (plan === null) return absent;
    if (name !== defaultPlan && (await this.#isInUse(name))) return "in-use";
    await this.#note(by, "plan.delete", name, { from: auditLimits(plan), to: null, version: plan.version + 1 });
    const deleted = await this.#store.plans.delete(name);
    if (deleted) this.#changed({ plan: name, version: plan.version + 1 });
    return deleted ? "deleted" : absent;
  }

  async #isInUse(plan: string): Promise<boolean> {
    for (const state of ["active", "disabled"] as const) {
      if ((await this.#store.keys.page({ limit: 1, plan, state })).length > 0) return true;
    }
    return false;
  }

  async #checkPlanOf({ plan }: Pick<KeyPatch, "plan">): Promise<void> {
    if (plan === undefined || plan === defaultPlan || (await this.#store.plans.find(plan)) !== null) return;
    throw new KeySpecError([specFault("plan", "is not the name of a plan", `plan ${JSON.stringify(plan)}`)]);
  }

  /** The target of this Idempotency-Key: `target`, or that of an earlier request. */
  async #claim(by: Operator, idempotency: Idempotency, target: string): Promise<string> {
    const now = this.#now();
    const { bodyHash } = idempotency;
    const id = claimId(by, idempotency);
    const claim = await this.#store.idempotency.claim({ id, bodyHash, target, expiresAt: now + idempotencyMs }, now);
    if (claim.outcome === "claimed") return target;
    if (claim.bodyHash !== bodyHash) throw new IdempotencyConflict("the Idempotency-Key was used for another request");
    return claim.target;
  }

  async #note(by: Operator, action: AuditAction, target: string, details: object): Promise<void> {
    const { actor, address, keyId } = by;
    await this.#store.audit.append({ at: this.#now(), actor, action, target, address, keyId, details });
  }

  #announce(outcome: KeyOutcome): KeyOutcome {
    if (outcome.outcome === "changed") this.#changed({ keyId: outcome.key.id, version: outcome.key.version });
    return outcome;
  }
}

function claimId(by: Operator, { key }: Idempotency): string {
  return createHash("sha256")
    .update(`${by.keyId ?? by.actor}\n${key}`)
    .digest("hex");
}

function forced(force: boolean): { force?: true } {
  return force ? { force: true } : {};
}
