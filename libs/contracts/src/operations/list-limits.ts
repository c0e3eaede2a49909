/** How many items a list of a record has. */

/** Items of a list where the caller names no `limit`. */
export const listLimitDefault = 100;

/** The largest `limit`. */
export const listLimitMax = 1_000;

/** Units of a record whose lists have up to `limit` items: one for each hundred. */
export function listUnits(limit: number): number {
  return Math.ceil(limit / listLimitDefault);
}
