/** The age of a section, and whether it is too old. */

import type { SectionEntry } from "./manifest.ts";

/** A section's age in whole seconds, never below 0. */
export function ageSeconds(section: SectionEntry, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - Date.parse(section.as_of)) / 1000));
}

/** A section further in the future than this has no known age. */
const clockSkewMaxMs = 3_600_000;

/** Whether a section is older than its sources allow, or lies in the future. */
export function isStale(section: SectionEntry, nowMs: number): boolean {
  if (Date.parse(section.as_of) > nowMs + clockSkewMaxMs) return true;
  return section.stale_after_seconds !== null && ageSeconds(section, nowMs) > section.stale_after_seconds;
}
