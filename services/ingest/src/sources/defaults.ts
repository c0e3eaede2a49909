/** Bounds, intervals and shares that hold where `sources.yaml` names none. */

import type { PerFamily } from "./config.ts";

const hour = 3600;
const day = 24 * hour;

/** An hour: twenty times what a full table needs on a small machine. */
export const defaultSecondsMax = hour;

/** A registry or a validator does not lose a fifth of its records between two versions; a broken export does. */
export const defaultShrinkMax = 0.2;

/** What is held of a registry, and what AS numbers are named, changes by a few in a thousand a week. */
export const defaultSteadyShrinkMax = 0.02;

/** Real files have a handful of odd lines; one in a hundred means that this is not the format we take it for. */
export const defaultBadRecordsMax = 0.01;

/** Clocks that nobody sets are wrong by minutes; dates that are wrong are wrong by years. */
export const defaultClockSkewMaxSeconds = hour;

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
/** Most addresses stay where they are for years; mobile and cloud ones do not. */
export const defaultObservationHalfLifeSeconds = 365 * day;
export const defaultObservationsKeptSeconds = 365 * day;
/** A provider knows its ranges; whether each of them is used so is not known. */
export const defaultRangeConfidence = 0.9;
