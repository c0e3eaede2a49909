/**
 * Calls at even intervals, as long as the process runs. Skips a call that is late by more than one interval: the process stood still, and has
 * not yet read what clients sent meanwhile.
 */
export function callEvenly(intervalMs: number, call: () => void): NodeJS.Timeout {
  let due = performance.now() + intervalMs;
  return setInterval(() => {
    const now = performance.now();
    const isLate = now - due > intervalMs;
    due = now + intervalMs;
    if (!isLate) call();
  }, intervalMs).unref();
}
