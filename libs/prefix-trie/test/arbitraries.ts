/** Random tables that are clustered as real ones are, and the addresses at which they could go wrong. */

import type { Address, Prefix } from "@netfacts/address";
import fc from "../../../test/support/properties.ts";
import { bitsOf } from "./reference-table.ts";

/** An address of binary digits, padded with zeros. */
export function addressOf(version: 4 | 6, bits: string): Address {
  const word = (index: number): number => Number.parseInt(bits.slice(index * 32, index * 32 + 32).padEnd(32, "0"), 2);
  return version === 4 ? { version, w0: word(0), w1: 0, w2: 0, w3: 0 } : { version, w0: word(0), w1: word(1), w2: word(2), w3: word(3) };
}

/** A prefix of its own binary digits. */
export const prefixOf = (version: 4 | 6, bits: string): Prefix => ({ ...addressOf(version, bits), length: bits.length });

const bitString = (min: number, max: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom("0", "1"), { minLength: min, maxLength: max }).map((bits) => bits.join(""));

// Few stems, so that prefixes nest and share /16s, /24s, /32s and /64s; half have the high bit of a word set.
const stems4 = [
  "",
  "1",
  "00001010",
  "1100000010101000",
  "110000001010100000000001",
  "1".repeat(24),
  "0".repeat(24),
  "1".repeat(31),
  "0".repeat(31),
];
const documentation = "00100000000000010000110110111000";
const stems6 = [
  "",
  "1",
  "0010101000000001",
  documentation.slice(0, 16),
  documentation.slice(0, 24),
  documentation,
  documentation + "1".repeat(16),
  documentation + "1".repeat(32),
  documentation + "0".repeat(64),
  `${documentation}1${"0".repeat(62)}1`,
  "1".repeat(32),
  "1".repeat(127),
  "0".repeat(127),
];

const prefixArbitrary = (version: 4 | 6, stems: readonly string[]): fc.Arbitrary<Prefix> => {
  const bitsMax = version === 4 ? 32 : 128;
  const near = fc.tuple(fc.constantFrom(...stems), bitString(0, 9)).map(([stem, rest]) => (stem + rest).slice(0, bitsMax));
  // Whole chains of one stem, to every length.
  const chain = fc
    .tuple(fc.constantFrom(...stems), bitString(bitsMax, bitsMax), fc.integer({ min: 0, max: bitsMax }))
    .map(([stem, rest, length]) => (stem + rest).slice(0, length));
  return fc.oneof({ weight: 4, arbitrary: near }, { weight: 1, arbitrary: chain }).map((bits) => prefixOf(version, bits));
};

export const ipv4Prefix = prefixArbitrary(4, stems4);
export const ipv6Prefix = prefixArbitrary(6, stems6);
export const anyPrefix = fc.oneof(ipv4Prefix, ipv6Prefix);

/** First and last address of a prefix, and one before and one after them. */
export function edgesOf(prefix: Prefix): Address[] {
  const bitsMax = prefix.version === 4 ? 32 : 128;
  const own = bitsOf(prefix).slice(0, prefix.length);
  const first = own.padEnd(bitsMax, "0");
  const last = own.padEnd(bitsMax, "1");
  // Counting down flips the trailing zeros and the 1 before them; counting up the other way round. None at the ends.
  const before = first.includes("1") ? [first.replace(/10*$/, (end) => `0${"1".repeat(end.length - 1)}`)] : [];
  const after = last.includes("0") ? [last.replace(/01*$/, (end) => `1${"0".repeat(end.length - 1)}`)] : [];
  return [first, last, ...before, ...after].map((bits) => addressOf(prefix.version, bits));
}
