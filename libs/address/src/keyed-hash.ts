/**
 * Hashes for tables whose keys come from outside, with a random key for each thread. Without knowing it nobody can construct keys that all collide in
 * one slot, which would make such a table take quadratic time. HalfSipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012),
 * except for pairs. Not for values that are stored or sent to another thread.
 */

const [key0 = 0, key1 = 0] = crypto.getRandomValues(new Int32Array(2));
const [init2, init3] = [key0 ^ 0x6c796765, key1 ^ 0x74656462];
/** Rounds without input at the end. */
const lastRounds = 3;

/** The hash of `bytes[start, end)`, 32 bits. Cost: some 2 ns per byte. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let v0 = key0;
  let v1 = key1;
  let v2 = init2;
  let v3 = init3;
  let at = start;
  // The last word has the remaining bytes, and the length.
  for (let left = lastRounds + 1; left > 0; ) {
    let word = 0;
    if (end - at >= 4) {
      word =
        (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
      at += 4;
    } else {
      if (left > lastRounds) {
        word = (end - start) << 24;
        for (let shift = 0; at < end; at++, shift += 8) word |= (bytes[at] as number) << shift;
      } else if (left === lastRounds) v2 ^= 0xff;
      left -= 1;
    }
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return (v1 ^ v3) >>> 0;
}

/** The hash of all `words`, 32 bits: for keys of one length. */
export function hashWords(words: Uint32Array): number {
  let v0 = key0;
  let v1 = key1;
  let v2 = init2;
  let v3 = init3;
  const { length } = words;
  for (let at = 0; at < length + lastRounds; at++) {
    const word = at < length ? (words[at] as number) : 0;
    if (at === length) v2 ^= 0xff;
    v3 ^= word;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= word;
  }
  return (v1 ^ v3) >>> 0;
}

/**
 * The hash of two words, 32 bits, in a third of the time. Of n pairs that are constructed to collide without knowing the key, no more than about the
 * square root of n do.
 */
export function hashPair(a: number, b: number): number {
  let hash = Math.imul(a ^ key0, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 15) ^ b, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13) ^ key1, 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
