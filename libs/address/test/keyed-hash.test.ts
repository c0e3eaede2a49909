/** Keyed hashes: one key in a thread, and no order in what they make of keys that have much of it. */

import { expect, test } from "@jest/globals";
import { hashBytes, hashPair, hashWords } from "../src/index.ts";

const count = 1 << 16;
const words = Uint32Array.from({ length: count }, (_, number) => number << 16);

/** Of so many random values of 32 bits about half a dozen meet. */
const distinct = (hashes: Iterable<number>) => new Set(hashes).size;

test("the same key has the same hash, wherever it lies", () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, at) => (at * 7) & 255);
  for (let length = 0; length < 40; length++) {
    const moved = new Uint8Array(100);
    moved.set(bytes.subarray(0, length), 50);
    expect(hashBytes(moved, 50, 50 + length)).toBe(hashBytes(bytes, 0, length));
  }
  expect(hashWords(Uint32Array.of(1, 2, 3))).toBe(hashWords(Uint32Array.of(1, 2, 3)));
  expect(hashPair(1, 2)).toBe(hashPair(1, 2));
});

test("every byte, its place and the length count", () => {
  const zeros = new Uint8Array(64);
  expect(distinct(Array.from({ length: 64 }, (_, length) => hashBytes(zeros, 0, length)))).toBe(64);
  const hashes = Array.from({ length: 64 * 255 }, (_, number) => {
    const bytes = new Uint8Array(64);
    bytes[number % 64] = 1 + Math.floor(number / 64);
    return hashBytes(bytes, 0, 64);
  });
  expect(distinct(hashes)).toBeGreaterThan(hashes.length - 10);
});

test("keys of a pattern are spread as random ones, in the low bits too", () => {
  const kinds = [
    [...words].map((word) => hashWords(Uint32Array.of(word, 0, 0))),
    [...words].map((word) => hashWords(Uint32Array.of(0, word, word))),
    [...words].map((word) => hashPair(word, 0)),
    [...words].map((word) => hashPair(1, word)),
    [...words].map((word) => hashBytes(new Uint8Array(words.buffer), word >>> 14, (word >>> 14) + 4)),
  ];
  for (const hashes of kinds) {
    expect(distinct(hashes)).toBeGreaterThan(count - 50);
    // Of as many random values as there are places, 63 % of these are taken.
    expect(distinct(hashes.map((hash) => hash % count)) / count).toBeCloseTo(1 - 1 / Math.E, 1);
  }
});
