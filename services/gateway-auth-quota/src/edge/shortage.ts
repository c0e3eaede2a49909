/** The reason why a caller gets no place of a limited resource. */

import type { Shares } from "@netfacts/messaging";

/** `full`: all places are taken, and no caller has more than its quarter. `share`: the caller has its quarter, and no other place is free. */
export type Shortage = "full" | "share";

export function shortageOf(shares: Shares, caller: string | null): Shortage {
  return caller !== null && shares.hasQuarter(caller) ? "share" : "full";
}
