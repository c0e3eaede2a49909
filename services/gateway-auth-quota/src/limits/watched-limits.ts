/** The shared counters, with a log line when they become unavailable, and when they are available again: refusals do not give the reason. */

import type { LimitRepository } from "@netfacts/storage";

export interface WatchLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** The same repository; each take shows whether it is available. @param debtMax  units that are admitted without it. */
export function watchedLimits(limits: LimitRepository, log: WatchLog, debtMax = 0): LimitRepository {
  const meanwhile =
    debtMax === 0
      ? "requests beyond the leased units are rejected until the store is available again"
      : `up to ${debtMax} units beyond the leased ones are admitted per key, limit and window until the store is available again`;
  let isAway = false;
  return {
    async take(window, limit, units, mark) {
      const take = await limits.take(window, limit, units, mark);
      // A single counter is invalid: the store reports it, and is available.
      if (take.outcome === "unknown" && take.cause.fault === "invalid") return take;
      const wasAway = isAway;
      isAway = take.outcome === "unknown";
      if (take.outcome === "unknown" && !wasAway) log.warn({ err: take.cause }, `limit store is unavailable; ${meanwhile}`);
      if (!isAway && wasAway) log.info({}, "limit store is available again");
      return take;
    },
    giveBack: (window, units, mark) => limits.giveBack(window, units, mark),
    recover: (window, mark) => limits.recover(window, mark),
    read: (window, owner) => limits.read(window, owner),
    time: () => limits.time(),
  };
}
