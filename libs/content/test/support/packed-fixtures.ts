/** What the files of test/fixtures unpack to; `scripts/run.sh libs/content/test/support/packed-fixtures.ts` writes them anew with bzip2. */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const fixtures = join(dirname(fileURLToPath(import.meta.url)), "../fixtures");

export interface PackedFixture {
  readonly file: string;
  readonly level: number;
  /** One bzip2 stream each. */
  readonly parts: readonly Uint8Array[];
}

const text = (value: string): Uint8Array => Buffer.from(value);

/** All byte values in no order that compresses (a linear congruential generator). */
function noise(length: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
}

/** Runs of every length to 600: below, at and above the 4 and the 259 at which bzip2 counts anew. */
const runs = Buffer.concat(Array.from({ length: 600 }, (_, n) => Buffer.alloc(n + 1, n % 251)));

const lines = text(Array.from({ length: 40_000 }, (_, n) => `${(n * 7919) % 1000}\n`).join(""));

export const packedFixtures: readonly PackedFixture[] = [
  { file: "empty.bz2", level: 9, parts: [text("")] },
  { file: "text.bz2", level: 9, parts: [text("hello\n")] },
  { file: "noise.bz2", level: 9, parts: [noise(3000)] },
  { file: "runs.bz2", level: 1, parts: [runs] },
  { file: "zeros.bz2", level: 9, parts: [new Uint8Array(3_000_000)] },
  { file: "blocks.bz2", level: 1, parts: [lines] },
  { file: "streams.bz2", level: 1, parts: [text("one\n"), text(""), lines, text("two\n")] },
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { file, level, parts } of packedFixtures) {
    writeFileSync(join(fixtures, file), Buffer.concat(parts.map((input) => execFileSync("bzip2", [`-${level}`], { input }))));
  }
}
