/** Why a caller gets no place of a bounded resource. */

import type { Shares } from "@netfacts/messaging";

/** `full`: all places are taken, and nobody has more than its quarter; `share`: the caller has its quarter, and nothing is left beside it. */
export type Shortage = "full" | "share";

export function shortageOf(shares: Shares, caller: string | null): Shortage {
  return caller !== null && shares.hasQuarter(caller) ? "share" : "full";
}
