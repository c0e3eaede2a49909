/** The intervals of a session (RFC 8210 §6): defaults, limits, and the correction of those that a cache sends. */

import type { RtrIntervals } from "./pdu.ts";

/** Seconds; the recommendations of RFC 8210 §6, also used for version 0, whose caches send none. */
export const defaultIntervals: RtrIntervals = { refresh: 3_600, retry: 600, expire: 7_200 };

const bounds: Readonly<Record<keyof RtrIntervals, readonly [least: number, most: number]>> = {
  refresh: [1, 86_400],
  retry: [1, 7_200],
  expire: [600, 172_800],
};

/**
 * The intervals to use: each within its limits, and refresh and retry below expire, as a cache must set them. One that is not below becomes half of
 * expire: at a second below, the data would expire while their answer is on its way. `changed` names those that differ from the cache's.
 */
export function boundedIntervals(received: RtrIntervals): { readonly intervals: RtrIntervals; readonly changed: string[] } {
  const within = (name: keyof RtrIntervals) => Math.min(Math.max(received[name], bounds[name][0]), bounds[name][1]);
  const expire = within("expire");
  const below = (name: "refresh" | "retry") => (within(name) < expire ? within(name) : Math.floor(expire / 2));
  const intervals = { refresh: below("refresh"), retry: below("retry"), expire };
  const names = ["refresh", "retry", "expire"] as const;
  const changed = names
    .filter((name) => intervals[name] !== received[name])
    .map((name) => `${name} ${received[name]} s changed to ${intervals[name]} s`);
  return { intervals, changed };
}
