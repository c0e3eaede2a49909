/** Bounds, intervals and shares that hold where `sources.yaml` names none. */

import type { PerFamily } from "./config.ts";
import type { SourceSection } from "./sections.ts";

const gibibyte = 2 ** 30;
const hour = 3600;
const day = 24 * hour;

/** Unpacked bytes: four times the largest public file of today (a RIS RIB of some 4 GiB; an rpki-client export of 75 MB). Of updates all files together. */
export const defaultBytesMax: Record<SourceSection, number> = {
  routes: 16 * gibibyte,
  updates: 16 * gibibyte,
  allocations: gibibyte,
  vrps: gibibyte,
  as_names: gibibyte / 4,
  profiles: gibibyte / 4,
  network_types: gibibyte / 4,
};

/** How often the public sources publish: RIS tables every 8 h and updates every 5 min, the registries daily, a validator every hour, name lists and profiles weekly. */
export const defaultIntervalSeconds: Record<SourceSection, number> = {
  routes: 8 * hour,
  updates: 300,
  allocations: day,
  vrps: hour,
  as_names: 7 * day,
  profiles: 7 * day,
  network_types: 7 * day,
};

/** An hour: twenty times what a full table needs on a small machine. */
export const defaultSecondsMax = hour;

/** A registry or a validator does not lose a fifth of its records between two versions; a broken export does. */
export const defaultShrinkMax = 0.2;

/** Real files have a handful of odd lines; one in a hundred means that this is not the format we take it for. */
export const defaultBadRecordsMax = 0.01;

/** Two versions missed, and an hour of grace for the import itself (docs/design/semantics.md#time). */
export function defaultStaleAfterSeconds(intervalSeconds: number): number {
  return 2 * intervalSeconds + hour;
}

/** Who has a full feed (docs/design/semantics.md#which-routes-count). */
export const defaultFullFeedMin: PerFamily = { ipv4: 100_000, ipv6: 10_000 };
export const defaultFullFeedShare = 0.7;
export const defaultMatchPeersMin = 2;
/** Of a prefix and origin; the rest is told as a sum. Each costs pods 6 bytes per origin that has so many. */
export const defaultUpstreamsMax = 5;
/** A year: what is announced for an event each year, or by a standby link, is still known when it comes back. */
export const defaultHistoryKeptSeconds = 365 * day;
