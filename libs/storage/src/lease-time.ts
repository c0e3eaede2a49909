/** The check of a lease's duration, for every store. */

/** @throws RangeError */
export function checkLeaseTime(ttlMs: number): void {
  if (!Number.isSafeInteger(ttlMs) || ttlMs < 1) throw new RangeError(`a lease cannot last ${ttlMs} ms`);
}
