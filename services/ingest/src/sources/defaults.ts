/** Default bounds, intervals and shares of `sources.yaml`. */

import type { PerFamily } from "./config.ts";

const hour = 3600;
const day = 24 * hour;

/** An hour: twenty times what a full table needs on a small machine. */
export const defaultSecondsMax = hour;
/** A longer `seconds_max` counts as this one, 23 days: a timer of Node that is longer than 24 ends at once. */
export const longestSecondsMax = 2_000_000;

/** A registry or a validator does not lose a fifth of its records from one version to the next; a broken export does. */
export const defaultShrinkMax = 0.2;

/** Delegated resources and named AS numbers change by a few in a thousand a week. */
export const defaultSteadyShrinkMax = 0.02;

/** Real files have a handful of odd lines. One in a hundred means that the file has another format. */
export const defaultBadRecordsMax = 0.01;

/** Clocks that nobody sets are wrong by minutes; wrong dates are wrong by years. */
export const defaultClockSkewMaxSeconds = hour;

/** Two missed versions, and an hour for the import itself (docs/design/semantics.md#time). */
export function defaultStaleAfterSeconds(intervalSeconds: number): number {
  return 2 * intervalSeconds + hour;
}

/** When a peer has a full feed (docs/design/semantics.md#which-routes-count). */
export const defaultFullFeedMin: PerFamily = { ipv4: 100_000, ipv6: 10_000 };
export const defaultFullFeedShare = 0.7;
export const defaultMatchPeersMin = 2;
/** Upstreams per prefix and origin; the others are reported as a sum. Each costs pods 6 bytes per origin that has as many. */
export const defaultUpstreamsMax = 5;
/** A year: a prefix that is announced for a yearly event, or over a standby link, is still known when it comes back. */
export const defaultHistoryKeptSeconds = 365 * day;
/** Most addresses stay where they are for years; mobile and cloud ones do not. */
export const defaultObservationHalfLifeSeconds = 365 * day;
export const defaultObservationsKeptSeconds = 365 * day;
/** A provider knows its ranges, but not every range needs to be used as listed. */
export const defaultRangeConfidence = 0.9;
