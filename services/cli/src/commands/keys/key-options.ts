/** Parses option values of commands for keys and plans. Each error names the expected form. */

import { type Scope, scopes } from "@netfacts/contracts";
import type { RateLimit } from "@netfacts/keys";
import { InvalidArgumentError } from "commander";

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

export function parseScopes(text: string): Scope[] {
  const words = text.split(",").map((word) => word.trim());
  const wrong = words.filter((word) => !scopes.includes(word as Scope));
  if (wrong.length > 0) throw new InvalidArgumentError(`Unknown scope: ${wrong.join(", ")}. Available: ${scopes.join(", ")}.`);
  return words as Scope[];
}

/** Parses `600` (per minute) or `600/10s`. */
export function parseRate(text: string): RateLimit {
  const match = /^(\d{1,10})(?:\/(\d{0,6})([smhd]))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError("Expected requests per window, such as 600 (per minute), 600/m or 50/10s.");
  const [, limit = "", count = "", unit] = match;
  return { limit: Number(limit), windowSeconds: unit === undefined ? 60 : Number(count || 1) * (unitSeconds[unit] ?? 1) };
}

export function parseCount(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError("Expected a whole number.");
  return Number(text);
}

/** Parses a time in UTC, or a duration from now. @returns Unix milliseconds. */
export function parseExpiry(text: string, now: number): number {
  const span = /^(\d{1,5})([smhd])$/.exec(text);
  if (span !== null) return now + Number(span[1]) * (unitSeconds[span[2] ?? ""] ?? 1) * 1_000;
  const time = /^\d{4}-\d{2}-\d{2}(T(?!24)\d{2}:\d{2}(:\d{2})?Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time) || !isCalendarDay(text.slice(0, 10))) {
    throw new InvalidArgumentError("Expected a date (2027-01-31), a time in UTC (2027-01-31T12:00Z) or a duration from now (90d, 12h).");
  }
  return time;
}

/** Whether the text is a date that exists, such as 2027-01-31. Date.parse reads 31 February as 3 March. */
export function isCalendarDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
}

/** Parses `90d`, `12h`, `0`. @returns milliseconds. */
export function parseSpan(text: string): number {
  const span = /^(\d{1,7})([smhd])$/.exec(text);
  if (text === "0") return 0;
  if (span === null) throw new InvalidArgumentError("Expected a duration, such as 7d, 12h, 30m or 0.");
  return Number(span[1]) * (unitSeconds[span[2] ?? ""] ?? 1) * 1_000;
}

/** The value, or the word that means none. It is not null, because commander reads null as a missing value. */
export function orWord<T, Word extends string>(word: Word, text: string, parse: (text: string) => T): T | Word {
  return text === word ? word : parse(text);
}

/** The result of `orWord`, with null instead of the word. */
export function nullFor<T>(word: string, value: T): Exclude<T, string> | null {
  return value === word ? null : (value as Exclude<T, string>);
}

/** Parser for options that may be repeated. */
export function collect(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}
