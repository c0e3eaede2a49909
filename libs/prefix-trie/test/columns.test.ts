/** What a trie refuses, and what sorting makes. */

import { describe, expect, test } from "@jest/globals";
import type { Prefix } from "@netfacts/address";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { type PrefixColumns, type PrefixFault, PrefixOrderError, PrefixTrie, sortPrefixes } from "../src/index.ts";
import { anyPrefix, prefixOf } from "./arbitraries.ts";
import { bitsOf, ReferenceTable } from "./reference-table.ts";

const noIpv4 = { address: new Uint32Array(0), length: new Uint8Array(0) };
const noIpv6 = { words: new Uint32Array(0), length: new Uint8Array(0) };

const ipv4 = (...rows: [address: number, length: number][]): PrefixColumns => ({
  ipv4: { address: Uint32Array.from(rows, ([address]) => address), length: Uint8Array.from(rows, ([, length]) => length) },
  ipv6: noIpv6,
});

const ipv6 = (...rows: [words: [number, number, number, number], length: number][]): PrefixColumns => ({
  ipv4: noIpv4,
  ipv6: { words: Uint32Array.from(rows.flatMap(([words]) => words)), length: Uint8Array.from(rows, ([, length]) => length) },
});

describe("build refuses", () => {
  test.each<[string, PrefixColumns, 4 | 6, number, PrefixFault]>([
    ["an IPv4 duplicate", ipv4([0x0a00_0000, 8], [0x0a00_0000, 16], [0x0a00_0000, 16]), 4, 2, "duplicate"],
    ["two IPv4 default routes", ipv4([0, 0], [0, 0]), 4, 1, "duplicate"],
    ["a falling IPv4 address", ipv4([0x0b00_0000, 8], [0x0a00_0000, 8]), 4, 1, "order"],
    ["a falling IPv4 address across the sign bit", ipv4([0x8000_0000, 8], [0x7f00_0000, 8]), 4, 1, "order"],
    ["a falling IPv4 length", ipv4([0x0a00_0000, 16], [0x0a00_0000, 8]), 4, 1, "order"],
    ["IPv4 host bits", ipv4([0x0a00_0000, 8], [0xffff_ffff, 31]), 4, 1, "host-bits"],
    ["host bits in an IPv4 default route", ipv4([0x8000_0000, 0]), 4, 0, "host-bits"],
    ["an IPv4 length of 33", ipv4([0, 33]), 4, 0, "length"],
    [
      "fewer IPv4 lengths than addresses",
      { ipv4: { address: new Uint32Array(3), length: new Uint8Array(2) }, ipv6: noIpv6 },
      4,
      2,
      "columns",
    ],
    ["an IPv6 duplicate", ipv6([[1, 2, 3, 4], 128], [[1, 2, 3, 4], 128]), 6, 1, "duplicate"],
    ["a falling first word", ipv6([[0x8000_0000, 0, 0, 0], 1], [[0x7fff_0000, 0, 0, 0], 16]), 6, 1, "order"],
    ["a falling last word", ipv6([[1, 2, 3, 0x8000_0000], 128], [[1, 2, 3, 0x7fff_ffff], 128]), 6, 1, "order"],
    ["a falling IPv6 length", ipv6([[1, 0, 0, 0], 64], [[1, 0, 0, 0], 32]), 6, 1, "order"],
    ["IPv6 host bits in the first word", ipv6([[0x2001_0db8, 0, 0, 0], 16]), 6, 0, "host-bits"],
    ["IPv6 host bits in the last word", ipv6([[0, 0, 0, 0], 0], [[1, 0, 0, 1], 127]), 6, 1, "host-bits"],
    ["IPv6 host bits just past the length", ipv6([[1, 0x8000_0000, 0, 0], 32]), 6, 0, "host-bits"],
    ["an IPv6 length of 129", ipv6([[0, 0, 0, 0], 129]), 6, 0, "length"],
    ["fewer IPv6 words than four each", { ipv4: noIpv4, ipv6: { words: new Uint32Array(7), length: new Uint8Array(2) } }, 6, 1, "columns"],
  ])("%s", (_, columns, family, index, fault) => {
    const caught = ((): unknown => {
      try {
        return PrefixTrie.build(columns);
      } catch (error) {
        return error;
      }
    })();
    expect(caught).toBeInstanceOf(PrefixOrderError);
    expect(caught).toMatchObject({ name: "PrefixOrderError", family, index, fault });
    expect((caught as Error).message).toMatch(new RegExp(`^IPv${family} prefix ${index}: `));
  });
});

describe("sorting", () => {
  test("gives unique ascending columns, and the first position of each prefix in the input", () => {
    fc.assert(
      fc.property(fc.array(anyPrefix, { maxLength: 120 }), (prefixes) => {
        const { columns, order } = sortPrefixes(prefixes);
        const trie = PrefixTrie.build(columns, { ipv4: "compact" });
        const reference = new ReferenceTable(prefixes);
        expect(Array.from(order, (_, entry) => trie.prefixAt(entry))).toEqual(
          reference.rows.map(({ version, bits }) => prefixOf(version, bits)),
        );
        const same = (a: Prefix, b: Prefix): boolean => a.version === b.version && a.length === b.length && bitsOf(a) === bitsOf(b);
        order.forEach((position, entry) => {
          expect(position).toBe(prefixes.findIndex((prefix) => same(prefix, trie.prefixAt(entry))));
        });
      }),
      { seed: seed(1520), numRuns: runs(300) },
    );
  });

  test("takes a generator, and nothing", () => {
    function* counting(): Generator<Prefix> {
      for (let at = 200; at > 0; at--) yield { version: 4, w0: (at << 24) >>> 0, w1: 0, w2: 0, w3: 0, length: 8 };
    }
    const { columns, order } = sortPrefixes(counting());
    expect([...columns.ipv4.address]).toEqual([...Array(200).keys()].map((at) => (at + 1) * 2 ** 24));
    expect([...order]).toEqual([...Array(200).keys()].map((at) => 199 - at));
    expect(sortPrefixes([]).order).toHaveLength(0);
  });

  test("keeps host bits, so that the trie refuses them", () => {
    const { columns } = sortPrefixes([{ version: 4, w0: 0x0a00_0001, w1: 0, w2: 0, w3: 0, length: 8 }]);
    expect(() => PrefixTrie.build(columns)).toThrow("IPv4 prefix 0: bits past the length are set");
  });
});
