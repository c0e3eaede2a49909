/** Why a text is no address, prefix or AS number, and what was meant. */

import { describe, expect, test } from "@jest/globals";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { addressMistake, asnMistake, type Mistake, parseAddress, parseAsn, parsePrefix, prefixMistake } from "../src/index.ts";

/** Text, a part of the reason, the suggestion, and its kind if that is another one than expected. */
type Case = readonly [text: string, reason: string | null, suggestion: string | null, kind?: Mistake["kind"]];

describe("addresses", () => {
  const cases: readonly Case[] = [
    ["fe80::1%eth0", "zone id", "fe80::1"],
    ["fe80::1\u0012", "zone id", "fe80::1"],
    ["fe80::1\n", "spaces around", "fe80::1"],
    ["193.0.6.139/21", "no prefix length", "193.0.6.139"],
    [" 193.0.6.139", "spaces around", "193.0.6.139"],
    ["[2001:DB8::1]", "brackets", "2001:db8::1"],
    ["[2001:db8::1]:443", "ports", "2001:db8::1"],
    ["193.0.6.139:80", "ports", "193.0.6.139"],
    ["193.0.6", "four octets", null],
    ["193.0.6.139.1", "four octets", null],
    ["3238004363", "integer", "193.0.6.139"],
    ["0xC0000201", "integer", "192.0.2.1"],
    ["4294967296", "four octets", null],
    ["3333", "four octets", null],
    ["193.0..139", "four octets", null],
    ["193.0.6.256", "0 to 255", null],
    // Ten or eight: nobody knows.
    ["193.0.6.010", "leading zeros", null],
    ["010.1.1.1", "leading zeros", null],
    ["0x08080808", "integer", "8.8.8.8"],
    ["0x8.8.8.8", "decimal", null],
    ["8.8.8.0x8", "decimal", null],
    ["-1", "no sign", null],
    ["8.8.8.-8", "no sign", null],
    ["1.5", "four octets", null],
    ["8.8.8.8e0", "decimal", null],
    ["1e3", "four octets", null],
    ["AS3333", "AS number", "AS3333", "asn"],
    ["as1.10", "AS number", "AS65546", "asn"],
    ["http://8.8.8.8", "URL", null],
    ["www.ripe.net", "host names are not resolved", null],
    ["", null, null],
    ["::g", null, null],
  ];
  for (const one of cases) tells(addressMistake, one);
});

describe("prefixes", () => {
  const cases: readonly Case[] = [
    ["193.0.0.0", "length is missing", null],
    ["193.0.0.0/", "length is missing", null],
    ["193.0.0.0/33", "0 to 32", null],
    ["2001:db8::/129", "0 to 128", null],
    ["193.0.0.0/x", "0 to 32", null],
    ["193.0.0.0/0x15", "decimal", null],
    ["193.0.0.0/-1", "0 to 32", null],
    ["193.0.0.0/+21", "0 to 32", null],
    ["193.0.0.0/21.0", "0 to 32", null],
    ["193.0.0.0/2e1", "0 to 32", null],
    ["AS3333", "AS number", "AS3333", "asn"],
    ["193.0.0.0/021", "leading zeros", "193.0.0.0/21"],
    ["2001:67C::/032", "leading zeros", "2001:67c::/32"],
    ["193.0.0.0/255.255.248.0", "mask", "193.0.0.0/21"],
    ["193.0.6.139/255.255.248.0", "mask", "193.0.0.0/21"],
    ["0.0.0.0/0.0.0.0", "mask", "0.0.0.0/0"],
    ["193.0.6.139/255.255.255.255", "mask", "193.0.6.139/32"],
    ["193.0.0.0/255.0.255.0", "0 to 32", null],
    [" 193.0.0.0/21", "spaces", "193.0.0.0/21"],
    ["193/8", "four octets", null],
    ["", null, null],
  ];
  for (const one of cases) tells(prefixMistake, one);
});

describe("AS numbers", () => {
  const cases: readonly Case[] = [
    ["AS03333", "leading zeros", "AS3333"],
    ["1.010", "leading zeros", "AS1.10"],
    ["AS 3333", "digits", "AS3333"],
    ["ASN3333", "digits", "AS3333"],
    ["as-3333", "digits", "AS3333"],
    ["4294967296", "4294967295", null],
    ["1.65536", "asdot", null],
    ["1.2.3", "asdot", null],
    ["-1", "no sign", null],
    ["+3333", "no sign", null],
    ["0x10", "decimal", null],
    ["AS0x10", "decimal", null],
    ["1e3", "decimal", null],
    ["8.8.8.8", "IP address", "8.8.8.8", "address"],
    ["2001:DB8::1", "IP address", "2001:db8::1", "address"],
    ["193.0.0.0/21", "prefix", "193.0.0.0/21", "prefix"],
    ["AS", null, null],
    ["ripe", null, null],
  ];
  for (const one of cases) tells(asnMistake, one);
});

test("whatever is suggested can be asked", () => {
  const part = fc.constantFrom(
    "AS",
    "as",
    "n",
    "-",
    " ",
    ".",
    "0",
    "1",
    "193",
    "255",
    "256",
    "3333",
    ":",
    "::",
    "/",
    "%",
    "[",
    "]",
    "db8",
    "x",
    "\n",
    "é",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join("");
      expectRead(addressMistake(text), "address");
      expectRead(prefixMistake(text), "prefix");
      expectRead(asnMistake(text), "asn");
    }),
    { seed: seed(5952), numRuns: runs(5_000) },
  );
});

function expectRead({ suggestion, kind }: Mistake, expected: NonNullable<Mistake["kind"]>): void {
  if (suggestion === null) return;
  const readers = { address: parseAddress, prefix: (text: string) => (parsePrefix(text).ok ? text : null), asn: parseAsn };
  expect(readers[kind ?? expected](suggestion)).not.toBeNull();
}

function tells(mistake: (text: string) => Mistake, [text, reason, suggestion, kind]: Case): void {
  test(`"${text}": ${reason ?? "no more is known"}${suggestion === null ? "" : `, ${suggestion} is meant`}`, () => {
    const told = mistake(text);
    expect([told.suggestion, told.kind]).toEqual([suggestion, kind]);
    if (reason === null) expect(told.reason).toBeNull();
    else expect(told.reason).toContain(reason);
  });
}
