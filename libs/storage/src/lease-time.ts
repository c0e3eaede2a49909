/** The check of a lease's duration, for every store. */

/** Longest time of a lease, in ms. */
export const leaseMsMax = 600_000;

/** @throws RangeError */
export function checkLeaseTime(ttlMs: number): void {
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1 || ttlMs > leaseMsMax) throw new RangeError(`a lease cannot last ${ttlMs} ms`);
}
