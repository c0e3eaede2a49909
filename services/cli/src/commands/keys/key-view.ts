/** Output of a key: never its hash, and its secret only by `create` and `rotate`. */

import { displayKey, type KeyRecord } from "@netfacts/keys";
import type { CliContext, SharedSettings } from "../../context.ts";
import { fieldLines, none, printJson, printLines, tableLines, timeText } from "../../output.ts";

/** The state of a key; an active key is `expired` after its expiry, or after its end if it was replaced. */
export function stateAt({ state, expiresAt, validUntil }: KeyRecord, now: number): string {
  const isPast = (time: number | null): boolean => time !== null && now >= time;
  return state === "active" && (isPast(expiresAt) || isPast(validUntil)) ? "expired" : state;
}

/** Prints a new key. This is the only place that prints the whole key. `more`: further members for programs. */
export function printSecretKey(
  context: CliContext,
  { json }: SharedSettings,
  key: KeyRecord,
  secret: string | null,
  more: object = {},
): void {
  const now = context.now();
  if (json) {
    printJson(context, { ...keyJson(key, now), secret, ...more });
    return;
  }
  printLines(context, [...keyLines(key, now), "", "The key, shown only once:", "", `  ${secret}`, ""]);
}

/** JSON for programs, with the names of the HTTP API. */
export function keyJson(key: KeyRecord, now: number): Record<string, unknown> {
  return {
    id: key.id,
    display: displayKey(key),
    label: key.label,
    environment: key.environment,
    state: stateAt(key, now),
    scopes: key.scopes,
    allowed_cidrs: key.allowedCidrs,
    plan: key.plan,
    rate: key.rate === null ? null : { limit: key.rate.limit, window_seconds: key.rate.windowSeconds },
    month: key.month === null ? null : { limit: key.month.limit },
    concurrency: key.concurrency,
    bucket: key.bucket,
    created_at: new Date(key.createdAt).toISOString(),
    expires_at: timeJson(key.expiresAt),
    rotation: { replaced_by: key.replacedBy, rotated_at: timeJson(key.rotatedAt), valid_until: timeJson(key.validUntil) },
    pepper_id: key.pepperId,
    version: key.version,
  };
}

export function keyLines(key: KeyRecord, now: number): string[] {
  return fieldLines([
    ["id", key.id],
    ["key", displayKey(key)],
    ["label", key.label],
    ["state", stateAt(key, now)],
    ["scopes", key.scopes.join(" ")],
    ["addresses", key.allowedCidrs.length === 0 ? "any" : key.allowedCidrs.join(" ")],
    ["rate", rateText(key) ?? `from plan ${key.plan}`],
    ["month", key.month === null ? `from plan ${key.plan}` : `${key.month.limit}`],
    ["concurrency", key.concurrency === null ? `from plan ${key.plan}` : `${key.concurrency.limit}`],
    ["created", timeText(key.createdAt)],
    ["expires", key.expiresAt === null ? "never" : timeText(key.expiresAt)],
    ...(key.replacedBy === null
      ? []
      : [["replaced", `by ${key.replacedBy} at ${timeText(key.rotatedAt)}; works until ${timeText(key.validUntil)}`] as const]),
  ]);
}

export function keyTable(keys: readonly KeyRecord[], now: number): string[] {
  const row = (key: KeyRecord): string[] => [
    key.id,
    key.environment,
    stateAt(key, now),
    key.label,
    key.scopes.join(","),
    rateText(key) ?? none,
    key.month === null ? none : `${key.month.limit}`,
    timeText(key.createdAt),
    timeText(key.expiresAt),
  ];
  return tableLines(["ID", "KIND", "STATE", "LABEL", "SCOPES", "RATE", "MONTH", "CREATED", "EXPIRES"], keys.map(row));
}

function timeJson(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function rateText({ rate }: KeyRecord): string | null {
  return rate === null ? null : `${rate.limit}/${rate.windowSeconds}s`;
}
