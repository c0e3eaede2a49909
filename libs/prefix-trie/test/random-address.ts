/** Addresses drawn from a fixed seed. */

import type { Address, Prefix } from "@netfacts/address";

/** A generator of unsigned 32-bit words (mulberry32): the same seed gives the same words. */
export function randomWord(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), state | 1);
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61);
    return (word ^ (word >>> 14)) >>> 0;
  };
}

/** An address inside the prefix. */
export function addressIn(prefix: Prefix, next: () => number): Address {
  const word = (fixed: number, at: number): number => {
    const free = 2 ** Math.max(0, Math.min(32, 32 - (prefix.length - 32 * at)));
    return Math.floor(fixed / free) * free + (next() % free);
  };
  const { version } = prefix;
  if (version === 4) return { version, w0: word(prefix.w0, 0), w1: 0, w2: 0, w3: 0 };
  return { version, w0: word(prefix.w0, 0), w1: word(prefix.w1, 1), w2: word(prefix.w2, 2), w3: word(prefix.w3, 3) };
}
