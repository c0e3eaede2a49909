/** A clock that goes on only when a test says so; what falls due on the way is called in its order. */

import type { RtrClock } from "../../src/rtr/clock.ts";

export interface ManualClock extends RtrClock {
  pass(ms: number): void;
  /** Sets the wall clock forward, or back. */
  set(ms: number): void;
}

export function manualClock(): ManualClock {
  let at = 1_000_000;
  let ahead = 1_700_000_000_000;
  const calls = new Set<{ readonly due: number; readonly call: () => void }>();
  return {
    monotonic: () => at,
    now: () => at + ahead,
    set(ms) {
      ahead += ms;
    },
    after(ms, call) {
      const entry = { due: at + Math.max(0, Math.ceil(ms)), call };
      calls.add(entry);
      return () => calls.delete(entry);
    },
    pass(ms) {
      const until = at + ms;
      for (;;) {
        const [next] = [...calls].filter(({ due }) => due <= until).sort((a, b) => a.due - b.due);
        if (next === undefined) break;
        calls.delete(next);
        at = Math.max(at, next.due);
        next.call();
      }
      at = until;
    },
  };
}
