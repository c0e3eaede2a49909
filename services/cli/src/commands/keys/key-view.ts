/** A key as commands print it: never its hash, and its secret only by `create`. */

import { displayKey, type KeyRecord } from "@netfacts/storage";
import { fieldLines, none, tableLines, timeText } from "../../output.ts";

/** `expired` is what the others see of an active key past its expiry. */
function stateAt(key: KeyRecord, now: number): string {
  return key.state === "active" && key.expiresAt !== null && now >= key.expiresAt ? "expired" : key.state;
}

/** For programs; names as in the HTTP API. */
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
    created_at: new Date(key.createdAt).toISOString(),
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
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
    ["rate", rateText(key) ?? `of plan ${key.plan}`],
    ["month", key.month === null ? `of plan ${key.plan}` : `${key.month.limit}`],
    ["created", timeText(key.createdAt)],
    ["expires", key.expiresAt === null ? "never" : timeText(key.expiresAt)],
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

function rateText({ rate }: KeyRecord): string | null {
  return rate === null ? null : `${rate.limit}/${rate.windowSeconds}s`;
}
