/** The audit's description of a change, with the names of the HTTP API; never a hash or a secret. */

import type { KeyLimits, KeyRecord } from "./key-repository.ts";

type Shown = Readonly<Record<string, unknown>>;

/** All members of a new key. */
export function auditKey(key: KeyRecord): Shown {
  return { ...shownKey(key), version: key.version };
}

/** The members that differ, with their values before and after. */
export function auditChanges(before: KeyRecord, after: KeyRecord): Shown {
  const [from, to] = [shownKey(before), shownKey(after)];
  const changes = Object.keys(to)
    .filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]))
    .map((name) => [name, { from: from[name], to: to[name] }]);
  return { changes: Object.fromEntries(changes) as Shown, version: after.version };
}

export function auditLimits({ rate, month, concurrency }: KeyLimits): Shown {
  return { rate: { limit: rate.limit, window_seconds: rate.windowSeconds }, month, concurrency };
}

function shownKey(key: KeyRecord): Shown {
  return {
    label: key.label,
    environment: key.environment,
    state: key.state,
    scopes: key.scopes,
    allowed_cidrs: key.allowedCidrs,
    plan: key.plan,
    rate: key.rate === null ? null : { limit: key.rate.limit, window_seconds: key.rate.windowSeconds },
    month: key.month,
    concurrency: key.concurrency,
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
  };
}
