/** Takers as gateways are, by the plainest code: what they admit all together shows whether the counters hold. */

import type { LimitRepository, LimitWindow } from "../../src/index.ts";

/** Units spent by one taker on each repository, all at a time: each takes eight, spends five and returns three until nothing is left. */
export async function admitted(repositories: readonly LimitRepository[], window: LimitWindow, limit: number): Promise<number> {
  const spent = await Promise.all(repositories.map((limits) => spendAll(limits, window, limit)));
  return spent.reduce((sum, units) => sum + units, 0);
}

async function spendAll(limits: LimitRepository, window: LimitWindow, limit: number): Promise<number> {
  let spent = 0;
  let units = 8;
  for (;;) {
    const take = await limits.take(window, limit, units);
    if (take.outcome === "unknown") throw take.cause;
    if (take.outcome === "does-not-fit") {
      if (take.left === 0) return spent;
      units = take.left;
      continue;
    }
    const used = Math.min(5, units);
    spent += used;
    if (units > used) await limits.giveBack(window, units - used);
    units = 8;
  }
}

/** The fault that the protocol is most afraid of. */
export function returningTwice(limits: LimitRepository): LimitRepository {
  return {
    take: (...args) => limits.take(...args),
    recover: (...args) => limits.recover(...args),
    read: (...args) => limits.read(...args),
    time: () => limits.time(),
    async giveBack(window, units) {
      await limits.giveBack(window, units);
      return await limits.giveBack(window, units);
    },
  };
}
