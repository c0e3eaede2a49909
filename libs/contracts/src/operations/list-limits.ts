/** The number of items in a list of a record. */

/** Most items of a list if the caller gives no `limit`. */
export const listLimitDefault = 100;

/** The largest `limit`. */
export const listLimitMax = 1_000;

/** Units of a record whose lists have up to `limit` items: one for each started hundred. */
export function listUnits(limit: number): number {
  return Math.ceil(limit / listLimitDefault);
}
