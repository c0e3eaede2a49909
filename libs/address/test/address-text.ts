/** Arbitrary address text: well-formed in every spelling, and hostile. */

import fc from "../../../test/support/properties.ts";

const octet = fc.oneof(fc.nat(255), fc.constantFrom(0, 1, 9, 10, 99, 100, 199, 249, 250, 255));
export const word: fc.Arbitrary<number> = fc.oneof(fc.nat(0xffff_ffff), fc.constantFrom(0, 1, 0xffff, 0x1_0000, 0x8000_0000, 0xffff_ffff));

export const ipv4Text: fc.Arbitrary<string> = fc.array(octet, { minLength: 4, maxLength: 4 }).map((octets) => octets.join("."));

const hexDigit = fc.constantFrom(..."0123456789abcdefABCDEF");
const group = fc.oneof(
  { weight: 2, arbitrary: fc.constant("0") },
  { weight: 3, arbitrary: fc.array(hexDigit, { minLength: 1, maxLength: 4 }).map((digits) => digits.join("")) },
);

/** Groups in full, with "::" at any place and of any reach, with a dotted-quad end: well formed by RFC 4291 §2.2. */
export const ipv6Text: fc.Arbitrary<string> = fc
  .tuple(fc.array(group, { minLength: 8, maxLength: 8 }), fc.boolean(), fc.boolean(), fc.nat(7), fc.integer({ min: 1, max: 8 }), ipv4Text)
  .map(([all, dotted, shortened, at, reach, tail]) => {
    const groups = dotted ? [...all.slice(0, 6), tail] : all;
    const start = Math.min(at, groups.length - 1);
    const end = Math.min(start + reach, dotted ? 6 : 8);
    if (!shortened || end <= start) return groups.join(":");
    return `${groups.slice(0, start).join(":")}::${groups.slice(end).join(":")}`;
  });

/** Characters that readers trip over: signs, spaces, NUL, digits of other scripts, look-alikes, a half surrogate. */
const hostileCharacter: fc.Arbitrary<string> = fc.constantFrom(
  ..."0123456789abcfgxXLl:.%/+-_ ,;@[]",
  ..."\t\n\r\0\u00a0\u200b\ufeff",
  ..."٣１۴०．：。ａ",
  "\ud800",
  "0x",
  "::",
  "00",
  "%eth0",
  "1e2",
);

interface Edit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

const edit: fc.Arbitrary<Edit> = fc.record({ at: fc.nat(45), remove: fc.nat(3), insert: fc.oneof(hostileCharacter, fc.constant("")) });

function edited(text: string, edits: readonly Edit[]): string {
  return edits.reduce((before, { at, remove, insert }) => {
    const start = Math.min(at, before.length);
    return before.slice(0, start) + insert + before.slice(start + remove);
  }, text);
}

/** Well-formed text damaged by a few edits, texts of hostile characters only, and endless repetitions. */
export function hostileText(base: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.tuple(base, fc.array(edit, { minLength: 1, maxLength: 3 })).map(([text, edits]) => edited(text, edits)) },
    { weight: 3, arbitrary: fc.array(hostileCharacter, { maxLength: 50 }).map((characters) => characters.join("")) },
    {
      weight: 2,
      arbitrary: fc.array(fc.constantFrom("1", "ab", "0", ":", "::", ".", "255"), { maxLength: 20 }).map((parts) => parts.join("")),
    },
    { weight: 1, arbitrary: fc.tuple(hostileCharacter, fc.integer({ min: 1, max: 5_000 })).map(([text, times]) => text.repeat(times)) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  );
}
