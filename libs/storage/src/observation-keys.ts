/** Prefixes and rows as database keys: text and numbers that sort like the prefixes and rows. */

import { makePrefix, type Prefix } from "@netfacts/address";
import { uploadLinesMax } from "./observation-repository.ts";

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");

/** Address bits and length: `4c633640018`. Prefixes inside another one come after it. */
export function prefixKey({ version, w0, w1, w2, w3, length }: Prefix): string {
  const words = version === 4 ? [w0] : [w0, w1, w2, w3];
  return `${version}${words.map((word) => hex(word, 8)).join("")}${hex(length, 2)}`;
}

export function prefixOfKey(key: string): Prefix {
  const version = key[0] === "4" ? 4 : 6;
  const word = (index: number) => (version === 4 && index > 0 ? 0 : Number.parseInt(key.slice(1 + index * 8, 9 + index * 8), 16));
  return makePrefix(version, word(0), word(1), word(2), word(3), Number.parseInt(key.slice(-2), 16));
}

/** Keys of the prefixes that contain the prefix, including its own. */
export function coveringKeys({ version, w0, w1, w2, w3, length }: Prefix): string[] {
  return Array.from({ length: length + 1 }, (_, at) => prefixKey(makePrefix(version, w0, w1, w2, w3, at)));
}

/** First and last possible key of a prefix inside the prefix; without the prefix itself if `isStrict`. */
export function keysWithin(prefix: Prefix, isStrict: boolean): { readonly first: string; readonly last: string } {
  const first = prefixKey(prefix);
  const bits = prefix.version === 4 ? 32 : 128;
  const lastAddress = [...first.slice(1, -2)].map((digit, at) => {
    const host = Math.min(4, Math.max(0, at * 4 + 4 - prefix.length));
    return hex(Number.parseInt(digit, 16) | (2 ** host - 1), 1);
  });
  // Shorter prefixes with the same first address are less specific, so they sort before it.
  const from = isStrict ? `${first.slice(0, -2)}${hex(prefix.length + 1, 2)}` : first;
  return { first: from, last: `${prefix.version}${lastAddress.join("")}${hex(bits, 2)}` };
}

/** Ids sort by upload, then by line. */
export function rowId(upload: number, line: number): number {
  return upload * (uploadLinesMax + 1) + line;
}

export function uploadOfRow(id: number): number {
  return Math.floor(id / (uploadLinesMax + 1));
}

export function lineOfRow(id: number): number {
  return id % (uploadLinesMax + 1);
}
