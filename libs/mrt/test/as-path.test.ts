/** AS paths: text, segments and the ORIGIN rule. */

import { describe, expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { isAsPath } from "../src/as-path.ts";
import { decodePath, originIsPeer, originIsSet, type PathSegment, pathText, readPathOrigin, readPathSet } from "../src/index.ts";
import { pathBytes } from "./support/mrt-writer.ts";

const origin = (text: string): number => {
  const bytes = pathBytes(text);
  return readPathOrigin(bytes, 0, bytes.length);
};

const set = (text: string): number[] => {
  const bytes = pathBytes(text);
  return readPathSet(bytes, 0, bytes.length);
};

describe("the origin of a path", () => {
  test.each([
    ["3333", 3333],
    ["1 2 3", 3],
    ["1 4294967295", 4294967295],
    ["1 0", 0],
    ["{1,2} 3", 3],
    ["(65001 65002) 3", 3],
    ["1 3 3 3", 3],
  ])("of %s is the last AS of the final sequence", (text, asn) => {
    expect(origin(text)).toBe(asn);
    expect(set(text)).toEqual([]);
  });

  test.each([
    ["1 2 {4,3}", [3, 4]],
    ["{7}", [7]],
    ["1 {9,4294967295,9,10}", [9, 10, 4294967295]],
  ])("of %s is its final AS_SET, never unwrapped, ascending and unique", (text, members) => {
    expect(origin(text)).toBe(originIsSet);
    expect(set(text)).toEqual(members);
  });

  test.each(["", "(65001)", "1 (65001 65002)", "1 2 [65001,65002]"])("of '%s' is the peer's own AS", (text) => {
    expect(origin(text)).toBe(originIsPeer);
    expect(set(text)).toEqual([]);
  });

  test("is that of the second segment where 255 hops did not suffice", () => {
    const hops = Array.from({ length: 300 }, (_, index) => index + 1);
    expect(origin(hops.join(" "))).toBe(300);
  });
});

const asn = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.constantFrom(0, 1, 65535, 65536, 0x7fffffff, 0x80000000, 0xffffffff));
const types = { set: 1, sequence: 2, "confed-sequence": 3, "confed-set": 4 } as const;
const path = fc.array(
  fc.record<PathSegment>({
    type: fc.constantFrom("set", "sequence", "confed-sequence", "confed-set"),
    asns: fc.array(asn, { minLength: 1, maxLength: 6 }),
  }),
  { maxLength: 5 },
);

const encode = (segments: readonly PathSegment[]): Uint8Array =>
  Uint8Array.from(
    segments.flatMap(({ type, asns }) => [
      types[type],
      asns.length,
      ...asns.flatMap((value) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]),
    ]),
  );

test("decodes what was encoded, anywhere in a buffer, and names the origin that the segments show", () => {
  fc.assert(
    fc.property(path, fc.nat(9), (segments, before) => {
      const encoded = encode(segments);
      const bytes = new Uint8Array(before + encoded.length + 3).fill(0xee);
      bytes.set(encoded, before);
      const end = before + encoded.length;
      expect(isAsPath(bytes, before, end)).toBe(true);
      expect(decodePath(bytes, before, end)).toEqual(segments);
      const last = segments.at(-1);
      const expected = last?.type === "sequence" ? last.asns.at(-1) : last?.type === "set" ? originIsSet : originIsPeer;
      expect(readPathOrigin(bytes, before, end)).toBe(expected);
    }),
    { seed: seed(4271), numRuns: runs(2_000) },
  );
});

test("a path is sound only in its whole length", () => {
  fc.assert(
    fc.property(path, (segments) => {
      const bytes = encode(segments);
      const ends = new Set([0]);
      for (let at = 0; at < bytes.length; ) {
        at += 2 + 4 * (bytes[at + 1] as number);
        ends.add(at);
      }
      for (let end = 0; end <= bytes.length; end++) expect(isAsPath(bytes, 0, end)).toBe(ends.has(end));
    }),
    { seed: seed(7606), numRuns: runs(200) },
  );
});

test.each([
  ["type 0", [0, 1, 0, 0, 0, 1]],
  ["type 5", [5, 1, 0, 0, 0, 1]],
  ["no AS in it", [2, 0]],
  ["a cut AS number", [2, 1, 0, 0, 0]],
])("a segment with %s is no path", (_, bytes) => {
  expect(isAsPath(Uint8Array.from(bytes), 0, bytes.length)).toBe(false);
});

test("prints paths as bgpdump does", () => {
  for (const text of ["", "1 2 3", "1 2 {3,4}", "{3}", "(65001 65002) 1 2", "[65001,65002] 1 {2,3} 4", "4294967295 1"]) {
    const bytes = pathBytes(text);
    expect(pathText(bytes, 0, bytes.length)).toBe(text);
  }
});
