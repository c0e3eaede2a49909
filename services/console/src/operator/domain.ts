/** Pure functions of the pages for operators: limits and states as text, and forms as requests. */

import type { ConcurrencyLimit, KeyPatch, ManagedKey, MonthLimit, NewKey, RateLimit, Scope } from "@netfacts/contracts";
import { count, duration } from "../domain/format.ts";

/** In the order of the form. */
export const scopes = ["ip", "routing", "asn", "prefix", "reverse_dns", "batch", "admin"] as const satisfies readonly Scope[];

export function rateText({ limit, window_seconds }: RateLimit): string {
  return `${count(limit)} units per ${duration(window_seconds).replace(/^1 /, "")}`;
}

export function monthText({ limit }: MonthLimit): string {
  return `${count(limit)} requests per month`;
}

export function concurrencyText(limit: ConcurrencyLimit | null): string {
  return limit === null ? "no limit" : `${count(limit.limit)} at a time`;
}

/** @returns keys whose id, label, plan, state or scopes contain every word of the text; case is ignored. */
export function filteredKeys(keys: readonly ManagedKey[], text: string): readonly ManagedKey[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return keys;
  return keys.filter(({ id, label, plan, state, scopes }) => {
    const line = `${id} ${label} ${plan} ${state} ${scopes.join(" ")}`.toLowerCase();
    return words.every((word) => line.includes(word));
  });
}

/** The members of a key in a form; null: the field is empty. */
function membersOf(form: FormData) {
  const text = (name: string) => String(form.get(name) ?? "").trim();
  const number = (name: string) => (text(name) === "" ? null : Number(text(name)));
  const rate = number("rate");
  const month = number("month");
  const concurrency = number("concurrency");
  const cidrs = text("cidrs")
    .split(/[\s,]+/)
    .filter(Boolean);
  return {
    label: text("label"),
    scopes: scopes.filter((scope) => form.getAll("scope").includes(scope)),
    plan: text("plan") || "default",
    allowed_cidrs: cidrs,
    rate: rate === null ? null : { limit: rate, window_seconds: number("window") ?? 1 },
    month: month === null ? null : { limit: month },
    concurrency: concurrency === null ? null : { limit: concurrency },
    expires_at: text("expires") === "" ? null : `${text("expires")}T00:00:00Z`,
  };
}

/** The request for a new key from a form. Members with empty fields are absent, so that the limits of the plan apply. */
export function newKeyOf(form: FormData): NewKey {
  const { label, scopes, ...members } = membersOf(form);
  const given = Object.entries(members).filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0));
  return { label, scopes, environment: form.get("environment") === "test" ? "test" : "live", ...Object.fromEntries(given) };
}

/** The changes of a key in a form; unchanged members are absent. An expiry on the same day is not changed. */
export function keyPatchOf(form: FormData, key: ManagedKey): KeyPatch {
  const members = membersOf(form);
  if (members.expires_at?.slice(0, 10) === key.expires_at?.slice(0, 10)) members.expires_at = key.expires_at;
  const before: Readonly<Record<string, unknown>> = { ...key, scopes: scopes.filter((scope) => key.scopes.includes(scope)) };
  return Object.fromEntries(Object.entries(members).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])));
}

/** A random `Idempotency-Key`. It does not use `crypto.randomUUID`, which only pages of a secure origin have. */
export function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
