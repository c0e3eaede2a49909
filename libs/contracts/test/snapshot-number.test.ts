/** Snapshot ids as numbers: there and back, in order, and nothing that would come back as another text. */

import { expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { snapshotIdOf, snapshotNumberOf } from "../src/index.ts";

test("an id is its time and its digest", () => {
  expect(snapshotNumberOf("20140523T080000Z-1a2b3c4d")).toEqual({ seconds: Date.UTC(2014, 4, 23, 8) / 1_000, digest: 0x1a2b3c4d });
});

test("every number but 0 is an id, and comes back", () => {
  const number = fc.record({ seconds: fc.nat(0xffff_ffff), digest: fc.nat(0xffff_ffff) }).filter((n) => n.seconds + n.digest > 0);
  fc.assert(
    fc.property(number, (expected) => {
      expect(snapshotNumberOf(snapshotIdOf(expected))).toEqual(expected);
    }),
    { seed: seed(64), numRuns: runs(5_000) },
  );
});

test("numbers sort as ids do", () => {
  const number = fc.record({ seconds: fc.nat(0xffff_ffff), digest: fc.nat(0xffff_ffff) });
  fc.assert(
    fc.property(number, number, (a, b) => {
      const byNumber = Math.sign(a.seconds - b.seconds || a.digest - b.digest);
      expect(Math.sign(snapshotIdOf(a) < snapshotIdOf(b) ? -1 : snapshotIdOf(a) > snapshotIdOf(b) ? 1 : 0)).toBe(byNumber);
    }),
    { seed: seed(65), numRuns: runs(2_000) },
  );
});

test.each([
  "",
  "s1",
  "20140523T080000Z-1A2B3C4D",
  "20140523T080000Z-1a2b3c4",
  "20140631T080000Z-1a2b3c4d",
  "20141323T080000Z-1a2b3c4d",
  "20140523T240000Z-1a2b3c4d",
  "19691231T235959Z-1a2b3c4d",
  "21060207T062816Z-00000000",
  "19700101T000000Z-00000000",
])("refuses %p, which would not come back", (id) => {
  expect(() => snapshotNumberOf(id)).toThrow(RangeError);
});
