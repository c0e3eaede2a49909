/** How old a section is, and whether that is too old. */

import type { SectionEntry } from "./manifest.ts";

/** A section's age in whole seconds, never below 0. */
export function ageSeconds(section: SectionEntry, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - Date.parse(section.as_of)) / 1000));
}

/** Whether a section is older than its sources allow. */
export function isStale(section: SectionEntry, nowMs: number): boolean {
  return section.stale_after_seconds !== null && ageSeconds(section, nowMs) > section.stale_after_seconds;
}
