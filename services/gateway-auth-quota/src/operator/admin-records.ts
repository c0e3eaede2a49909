/** Keys, plans and audit entries of the store as operators see them, without hashes. */

import type { AuditRecord, ManagedKey, Plan } from "@netfacts/contracts";
import { timestamp } from "@netfacts/contracts";
import { type AuditEntry, defaultPlan, displayKey, type KeyLimits, type KeyRecord, type PlanRecord } from "@netfacts/keys";

/** @param now  Unix ms: an active key that has ended by then is `expired`. */
export function managedKey(key: KeyRecord, now: number): ManagedKey {
  return {
    id: key.id,
    display: displayKey(key),
    label: key.label,
    environment: key.environment,
    state: shownState(key, now),
    scopes: [...key.scopes],
    allowed_cidrs: [...key.allowedCidrs],
    plan: key.plan,
    rate: key.rate === null ? null : { limit: key.rate.limit, window_seconds: key.rate.windowSeconds },
    month: key.month,
    concurrency: key.concurrency,
    bucket: key.bucket,
    created_at: timestamp(key.createdAt),
    expires_at: timestampOrNull(key.expiresAt),
    rotation: {
      replaced_by: key.replacedBy,
      rotated_at: timestampOrNull(key.rotatedAt),
      valid_until: timestampOrNull(key.validUntil),
    },
    pepper_id: key.pepperId,
    version: key.version,
  };
}

function shownState({ state, expiresAt, validUntil }: KeyRecord, now: number): ManagedKey["state"] {
  const isPast = (time: number | null): boolean => time !== null && time <= now;
  return state === "active" && (isPast(expiresAt) || isPast(validUntil)) ? "expired" : state;
}

export function plan(record: PlanRecord): Plan {
  return { ...planLimits(record.name, record), updated_at: timestamp(record.updatedAt) };
}

/** The plan `default` until it is written. */
export function unwrittenDefault(limits: KeyLimits): Plan {
  return { ...planLimits(defaultPlan, limits), updated_at: null };
}

function planLimits(name: string, { rate, month, concurrency }: KeyLimits): Omit<Plan, "updated_at"> {
  return { name, rate: { limit: rate.limit, window_seconds: rate.windowSeconds }, month, concurrency };
}

export function auditRecord({ id, at, actor, action, target, address, keyId, details }: AuditEntry): AuditRecord {
  return { id, at: timestamp(at), actor, action, target, address, key_id: keyId, details };
}

function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}
