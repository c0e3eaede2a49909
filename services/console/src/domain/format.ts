/** Text of numbers and times for people. */

import { plainText } from "./plain-text.ts";

const number = new Intl.NumberFormat("en");
const percent = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

export function count(value: number): string {
  return number.format(value);
}

export function share(value: number): string {
  return percent.format(value);
}

/** `1 origin`, `2 origins`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

const steps: readonly (readonly [seconds: number, unit: string])[] = [
  [365 * 86_400, "year"],
  [30 * 86_400, "month"],
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
];

/** A duration in its largest unit: `3 hours`, `12 years`. */
export function duration(seconds: number): string {
  for (const [length, unit] of steps) if (seconds >= length) return counted(Math.floor(seconds / length), unit);
  return counted(Math.max(0, Math.floor(seconds)), "second");
}

/** RFC 3339 → `2026-11-21 08:55 UTC`; a date is not changed. */
export function moment(text: string): string {
  return text.length > 10 ? `${text.slice(0, 10)} ${text.slice(11, 16)} UTC` : text;
}

/** A `Retry-After` is rounded up and counted from its arrival, so midnight would be a minute past. Answers usually arrive within this time. */
const travelSecondsMax = 5;

/** The minute at which a wait ends, in the form of `moment`. */
export function endOfWait(seconds: number, nowMs: number): string {
  const minutes = Math.ceil((nowMs + (seconds - travelSecondsMax) * 1_000) / 60_000);
  return moment(new Date(minutes * 60_000).toISOString());
}

const regions = new Intl.DisplayNames("en", { type: "region", fallback: "code" });

/** The English name of an ISO 3166-1 country code. Codes of no country (`ZZ`, `AP`) and other texts are returned as plain text. */
export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) && code !== "ZZ" ? (regions.of(code) ?? code) : plainText(code);
}

const registries: Readonly<Record<string, string>> = {
  afrinic: "AFRINIC",
  apnic: "APNIC",
  arin: "ARIN",
  lacnic: "LACNIC",
  ripencc: "RIPE NCC",
};

export function registryName(registry: string): string {
  return registries[registry] ?? plainText(registry);
}

/** A code of the API in words. */
export function words(code: string): string {
  return code.replaceAll("_", " ");
}
