/** Times in the form of section columns. */

import { timestamp } from "@netfacts/contracts";

/** Unix seconds as RFC 3339; null for 0 and null, which stand for "not known". */
export function secondsTimestamp(seconds: number | null): string | null {
  return seconds === null || seconds === 0 ? null : timestamp(seconds * 1000);
}
