/** A validated ROA payload (RFC 6811 §2): an announcement that is authorised, as reported by a relying party's validator. */

import type { Prefix } from "@netfacts/address";

export interface Vrp {
  /** The AS that may originate the prefix; 0 = nobody may (RFC 6483 §4, RFC 7607). */
  readonly asn: number;
  readonly prefix: Prefix;
  /** The longest prefix length that it allows, from the length of the prefix to 32 or 128. */
  readonly maxLength: number;
  /** Trust anchor, with the validator's name for it; null: not given. */
  readonly ta: string | null;
  /** Unix seconds; null: not given. */
  readonly expiresAt: number | null;
  /** Whether it allows prefixes that its AS does not announce (RFC 9319). Computed where the routes are known; only stored here. */
  readonly loose: boolean;
}
