/** Thousands of damaged documents of one format: each is read exactly as a slow oracle reads it, or refused with place and cause. */

import { type Random, seeded } from "../../../../test/support/random.ts";
import { runs } from "../../../../test/support/runs.ts";
import { SourceError } from "../../src/readers/reader-report.ts";

export interface MutationRun {
  readonly seed: number;
  readonly make: (random: Random) => Uint8Array;
  /** What the reader makes of it, as JSON can hold it. `piece`: into pieces of how many bytes to cut it. */
  readonly read: (bytes: Uint8Array, piece: number) => Promise<unknown>;
  /** What is there to be read; undefined: nothing that may be trusted. */
  readonly oracle: (bytes: Uint8Array) => unknown;
}

export interface MutationOutcome {
  readonly accepted: number;
  readonly refused: number;
  /** The first document that was not as it should be, and how; null: none. The run ends there. */
  readonly finding: string | null;
}

/** As many as a planted bug is looked for in, and no fewer. */
export const cases = runs(10_000);

export async function runMutations({ seed, make, read, oracle }: MutationRun): Promise<MutationOutcome> {
  const random = seeded(seed);
  let accepted = 0;
  let refused = 0;
  for (let index = 0; index < cases; index++) {
    const bytes = make(random);
    const piece = 1 + random([30, 400, 4_000][random(3)] as number);
    const expected = oracle(bytes);
    let found: unknown;
    let error: unknown = null;
    try {
      found = await read(bytes, piece);
    } catch (thrown) {
      error = thrown;
    }
    // Readers judge that by the first bytes, and no oracle does.
    const isUtf16 = error instanceof SourceError && error.reason.startsWith("is UTF-16") && bytes.includes(0);
    const finding = isUtf16 ? null : faultOf(expected, found, error);
    if (finding !== null)
      return { accepted, refused, finding: `case ${index}: ${finding}: ${JSON.stringify(Buffer.from(bytes).toString("latin1"))}` };
    if (error === null) accepted++;
    else refused++;
  }
  return { accepted, refused, finding: null };
}

function faultOf(expected: unknown, found: unknown, error: unknown): string | null {
  if (error !== null) {
    if (!(error instanceof SourceError)) return `threw ${error}`;
    if (expected !== undefined) return `refused (${error.message}) what says ${JSON.stringify(expected)}`;
    const isOfAll = /^\d+ of \d+ /.test(error.reason);
    return (error.line === null && error.offset === null && !isOfAll) || error.reason === ""
      ? `refused without place or cause: ${error.message}`
      : null;
  }
  const text = JSON.stringify(found);
  if (expected === undefined) return `read what is not to be trusted, as ${text}`;
  return text === JSON.stringify(expected) ? null : `read as ${text} what says ${JSON.stringify(expected)}`;
}
