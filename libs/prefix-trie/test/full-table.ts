/** The full-size table of real prefixes, read from the shared test data, where there are any. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Prefix } from "@netfacts/address";

const folder = process.env.NETFACTS_TEST_DATA ?? join(import.meta.dirname, "../../../../shared/data");

/** Where the table is looked for. */
export const fullTablePath = join(folder, "modern/prefix-origin.tsv.gz");

/** Every prefix of the table, in the file's order; null where there is no file. */
export function readFullTable(): Prefix[] | null {
  if (!existsSync(fullTablePath)) return null;
  const lines = gunzipSync(readFileSync(fullTablePath)).toString("latin1").split("\n");
  return lines.filter((line) => line !== "").map((line) => readPrefix(line.slice(0, line.indexOf("\t"))));
}

function readPrefix(text: string): Prefix {
  const [address = "", length = ""] = text.split("/");
  if (!address.includes(":")) {
    const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
    return { version: 4, w0: ((a << 24) | (b << 16) | (c << 8) | d) >>> 0, w1: 0, w2: 0, w3: 0, length: Number(length) };
  }
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right].map((group) => Number.parseInt(group, 16));
  const word = (index: number): number => (((groups[index * 2] as number) << 16) | (groups[index * 2 + 1] as number)) >>> 0;
  return { version: 6, w0: word(0), w1: word(1), w2: word(2), w3: word(3), length: Number(length) };
}
