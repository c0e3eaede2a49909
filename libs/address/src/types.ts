/** Addresses and prefixes as numbers: four unsigned 32-bit words, no BigInt. */

/** An IPv4 or IPv6 address. Words are unsigned 32-bit integers in network order; an IPv4 address uses `w0`, and the other words are 0. */
export interface Address {
  readonly version: 4 | 6;
  readonly w0: number;
  readonly w1: number;
  readonly w2: number;
  readonly w3: number;
}

/** An address block in CIDR form: `length` leading bits are significant (0–32 or 0–128), all others are 0. */
export interface Prefix extends Address {
  readonly length: number;
}
