/** AS number text by the examples and rules of RFC 5396, and the special-purpose AS numbers. */

import { describe, expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { formatAsdot, parseAsn, specialPurposeAsn } from "../src/index.ts";
import { hostileText, word } from "./address-text.ts";

/** The number, its asplain, asdot and asdot+ text. */
const notations = [
  [0, "0", "0", "0.0"],
  [1, "1", "1", "0.1"],
  [3333, "3333", "3333", "0.3333"],
  [65_526, "65526", "65526", "0.65526"],
  [65_535, "65535", "65535", "0.65535"],
  [65_536, "65536", "1.0", "1.0"],
  [65_546, "65546", "1.10", "1.10"],
  [131_071, "131071", "1.65535", "1.65535"],
  [196_629, "196629", "3.21", "3.21"],
  [4_294_967_295, "4294967295", "65535.65535", "65535.65535"],
] as const;

describe.each(notations)("AS %i", (asn, asplain, asdot, asdotPlus) => {
  test.each(["", "AS", "as", "As", "aS"])("is read in all notations after %j", (mark) => {
    expect([asplain, asdot, asdotPlus].map((text) => parseAsn(mark + text))).toEqual([asn, asn, asn]);
  });

  test("is written in asdot", () => expect(formatAsdot(asn)).toBe(asdot));
});

test.each([
  "",
  "AS",
  "ASN3333",
  "AS 3333",
  " 3333",
  "3333 ",
  "3333\n",
  "+1",
  "-1",
  "AS-1",
  "03333",
  "00",
  "AS00",
  "1.010",
  "01.1",
  "0.00",
  "4294967296",
  "42949672950",
  "99999999999",
  "65536.0",
  "0.65536",
  "1.65536",
  "1.",
  ".1",
  ".",
  "1.1.1",
  "1..1",
  "AS.1",
  "1e3",
  "0x10",
  "1_000",
  "３３３３",
  "33\u06603",
  "3333\0",
  "ASAS1",
  "\uff21\uff331",
  "null",
  "1".repeat(100_000),
])("refuses %j", (text) => expect(parseAsn(text)).toBeNull());

/** The grammar, as a pattern. */
function slowAsn(text: string): number | null {
  const match = /^(?:[Aa][Ss])?(?:(0|[1-9]\d*)|(0|[1-9]\d*)\.(0|[1-9]\d*))$/u.exec(text);
  if (match === null || /\n$/u.test(text)) return null;
  const [, plain, high, low] = match;
  if (plain !== undefined) return Number(plain) <= 0xffff_ffff ? Number(plain) : null;
  return Number(high) <= 0xffff && Number(low) <= 0xffff ? Number(high) * 65_536 + Number(low) : null;
}

test("any text is read as the grammar says", () => {
  const written = fc
    .tuple(word, fc.constantFrom("", "AS", "as"), fc.nat(2))
    .map(([asn, mark, form]) => mark + (form === 0 ? asn : form === 1 ? formatAsdot(asn) : `${asn >>> 16}.${asn & 0xffff}`));
  fc.assert(
    fc.property(fc.oneof(written, hostileText(written)), (text) => expect([text, parseAsn(text)]).toEqual([text, slowAsn(text)])),
    { seed: seed(5396), numRuns: runs(20_000) },
  );
});

test.each([
  [0, "RFC7607"],
  [112, "RFC7534"],
  [23_456, "RFC6793"],
  [64_496, "RFC5398"],
  [64_511, "RFC5398"],
  [64_512, "RFC6996"],
  [65_534, "RFC6996"],
  [65_535, "RFC7300"],
  [65_536, "RFC5398"],
  [65_551, "RFC5398"],
  [4_200_000_000, "RFC6996"],
  [4_294_967_294, "RFC6996"],
  [4_294_967_295, "RFC7300"],
])("AS %i has a special purpose by %s", (asn, rfc) => expect(specialPurposeAsn(asn)?.rfc).toBe(rfc));

test("of these only AS112 originates prefixes in the public Internet", () => {
  expect([0, 112, 23_456, 64_496, 64_512, 65_535, 4_294_967_295].filter((asn) => specialPurposeAsn(asn)?.originates)).toEqual([112]);
});

test.each([1, 111, 113, 3333, 23_455, 23_457, 64_495, 65_552, 4_199_999_999])("AS %i has no special purpose", (asn) => {
  expect(specialPurposeAsn(asn)).toBeNull();
});
