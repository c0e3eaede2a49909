/** A validated ROA payload (RFC 6811 §2): what a relying party's validator says may be announced. */

import type { Prefix } from "@netfacts/address";

export interface Vrp {
  /** The AS that may originate the prefix; 0 = nobody may (RFC 6483 §4, RFC 7607). */
  readonly asn: number;
  readonly prefix: Prefix;
  /** The longest prefix length that it allows, from the prefix's own length to 32 or 128. */
  readonly maxLength: number;
  /** Trust anchor, as the validator names it; null where the source does not tell. */
  readonly ta: string | null;
  /** Unix seconds; null where the source does not tell. */
  readonly expiresAt: number | null;
  /** Whether it allows prefixes that its AS does not announce (RFC 9319); told by whoever knows the routes, only carried here. */
  readonly loose: boolean;
}
