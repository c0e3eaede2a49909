/** The tests of one format against damage: thousands of documents against its oracle, and a planted bug that they find. */

import { afterAll, describe, expect, test } from "@jest/globals";
import type { Random } from "../../../../test/support/random.ts";
import { seed } from "../../../../test/support/runs.ts";
import type { SourceContent } from "../../src/readers/reader-report.ts";
import { cases, type MutationRun, runMutations } from "../support/mutation-run.ts";
import { contentOf } from "./content.ts";

/** Half of the records of a document this small may be bad. */
export const badRecordsMax = 0.5;
const content = (bytes: Uint8Array, piece: number): SourceContent => contentOf(bytes, piece, { badRecordsMax });

export interface Format<T> {
  /** How many of the cases are refused at least; of lists that a reader forgives nearly everything it is few. */
  readonly refusedMin?: number;
  readonly make: (random: Random) => Uint8Array;
  readonly read: (content: SourceContent) => Promise<T>;
  readonly oracle: (bytes: Uint8Array) => T | undefined;
  /** A reader with a bug: what it makes of a right reading. */
  readonly bug: (reading: T) => T;
}

let outcomes = "";
afterAll(() => {
  if (process.env.SHOW_MUTATIONS === "1") console.log(outcomes);
});

/** Declares the tests of one format. */
export function format<T>(name: string, { make, read, oracle, bug, refusedMin = cases / 20 }: Format<T>): void {
  describe(name, () => {
    const run = (first: number, reader: (content: SourceContent) => Promise<T>): MutationRun => ({
      seed: seed(first),
      make,
      read: (bytes, piece) => reader(content(bytes, piece)),
      oracle,
    });

    test("is read as the oracle does, or refused with place and cause", async () => {
      const { accepted, refused, finding } = await runMutations(run(20_260_105, read));
      expect(finding).toBeNull();
      expect(accepted + refused).toBe(cases);
      outcomes += `${name}: ${accepted} read, ${refused} refused\n`;
      expect(accepted).toBeGreaterThan(cases / 10);
      expect(refused).toBeGreaterThan(refusedMin);
    }, 300_000);

    test("a reader with a bug is found out", async () => {
      const { finding } = await runMutations(run(8, async (source) => bug(await read(source))));
      expect(finding).toMatch(/^case \d+: read as /);
    }, 300_000);
  });
}

/** Values of JSON, as text, that any reader of numbers, prefixes and times must mind. */
export const jsonNasty = [
  ...["null", "true", "-0", "-1", "1e3", "1.0", "1.5", "0", "33", "129", "4294967295", "4294967296", "99999999999999999999", "5e-324"],
  ...['"AS1"', '"as2"', '"as-1"', '"4294967296"', '""', '"N/A"', '"1.0.0.1/24"', '"1.0.0.0/33"', '"::1/64"', '"10.0.0.0/8"', '"::/0"'],
  ...["[]", "{}", "[1]", "[[1]]", '{"asn":1}', '"2026-01-05T24:00:00Z"', '"2026-02-30T00:00:00Z"', '"2026-01-05T09:31:32Z"', '"\\ud800"'],
  ...[`"${"x".repeat(65)}"`, '"\\u0000"', '"caf\\u00e9"', "1767605492", "1767605493"],
];
