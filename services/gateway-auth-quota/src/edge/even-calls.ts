/**
 * Calls at even intervals, as long as the process runs. A call that is late by more than one interval is left out: the process stood still, and
 * has not read yet what clients sent meanwhile.
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
