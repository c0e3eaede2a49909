/** Pseudo-random numbers that are the same every time. */

/** A generator of numbers from 0 up to, not including, 1 (xorshift, 32 bits). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
