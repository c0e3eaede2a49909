/** Times as section columns hold them. */

import { timestamp } from "@netfacts/contracts";

/** Unix seconds as RFC 3339; 0 and null stand for "not told". */
export function secondsTimestamp(seconds: number | null): string | null {
  return seconds === null || seconds === 0 ? null : timestamp(seconds * 1000);
}
