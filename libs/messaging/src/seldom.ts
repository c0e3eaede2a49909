/** Limits how often a frequent event is reported. */

const msDefault = 60_000;

/** Returns a function that calls `act` at most once in `ms`, and otherwise does nothing. */
export function seldom<Args extends readonly unknown[]>(act: (...args: Args) => void, ms = msDefault): (...args: Args) => void {
  let next = Number.NEGATIVE_INFINITY;
  return (...args) => {
    const now = performance.now();
    if (now < next) return;
    next = now + ms;
    act(...args);
  };
}
