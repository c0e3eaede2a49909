/** The trie against the reference table, on clustered random tables. */

import { describe, expect, test } from "@jest/globals";
import { type Address, AddressList, formatAddress, type Prefix } from "@netfacts/address";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { PrefixTrie, type PrefixTrieOptions, sortPrefixes } from "../src/index.ts";
import { addressOf, anyPrefix, edgesOf, ipv4Prefix, ipv6Prefix, prefixOf } from "./arbitraries.ts";
import { ReferenceTable } from "./reference-table.ts";

const forms = ["compact", "direct"] as const;
const build = (prefixes: Iterable<Prefix>, options?: PrefixTrieOptions): PrefixTrie =>
  PrefixTrie.build(sortPrefixes(prefixes).columns, options);

/** Every read of the trie, compared with the linear one. */
function expectAsReference(trie: PrefixTrie, prefixes: readonly Prefix[], asked: readonly Prefix[]): void {
  const reference = new ReferenceTable(prefixes);
  expect(trie.size).toBe(reference.rows.length);
  expect(trie.ipv4Count + trie.ipv6Count).toBe(trie.size);
  // Compared once as texts, which is fast; `expect` shows the difference if there is one.
  const found: unknown[] = [];
  const wanted: unknown[] = [];
  const compare = (asked: unknown, one: unknown, other: unknown) => {
    found.push([asked, one]);
    wanted.push([asked, other]);
  };
  reference.rows.forEach((row, entry) => {
    const prefix = prefixOf(row.version, row.bits);
    compare(entry, wordsOf(trie.prefixAt(entry)), wordsOf(prefix));
    compare(prefix, trie.lengthAt(entry), row.bits.length);
    compare(prefix, trie.parent(entry), reference.parent(entry));
    compare(prefix, trie.end(entry), entry + 1 + reference.moreSpecifics(prefix).length);
  });
  const list = new AddressList();
  for (const prefix of [...prefixes, ...asked]) {
    for (const address of edgesOf(prefix)) {
      compare(address, trie.longest(address), reference.longest(address));
      list.add(formatAddress(address));
    }
    compare(prefix, trie.exact(prefix), reference.exact(prefix));
    compare(prefix, trie.covering(prefix), reference.covering(prefix));
    compare(prefix, chain(trie, trie.covering(prefix)), reference.coveringChain(prefix));
    const { start, end } = trie.moreSpecifics(prefix);
    compare(
      prefix,
      Array.from({ length: end - start }, (_, at) => start + at),
      reference.moreSpecifics(prefix),
    );
  }
  if (JSON.stringify(found) !== JSON.stringify(wanted)) expect(found).toEqual(wanted);
  const entries = new Int32Array(list.count).fill(-2);
  trie.longestOfList(list, entries);
  expect([...entries]).toEqual(Array.from(entries, (_, index) => trie.longest(list.at(index))));
}

function wordsOf({ version, w0, w1, w2, w3, length }: Prefix): number[] {
  return [version, w0, w1, w2, w3, length];
}

function chain(trie: PrefixTrie, from: number): number[] {
  const entries: number[] = [];
  for (let entry = from; entry >= 0; entry = trie.parent(entry)) entries.push(entry);
  return entries;
}

/** 1,100 /48s in one /32 that is not asked about: so many that IPv6 gets its index. */
const crowd = Array.from(
  { length: 1100 },
  (_, at): Prefix => ({ version: 6, w0: 0x2a00_1234, w1: (at << 16) >>> 0, w2: 0, w3: 0, length: 48 }),
);

describe("the trie answers as the reference table does", () => {
  test("for IPv4 in the compact form", () => {
    fc.assert(
      fc.property(fc.array(ipv4Prefix, { maxLength: 40 }), fc.array(ipv4Prefix, { maxLength: 10 }), (prefixes, asked) =>
        expectAsReference(build(prefixes, { ipv4: "compact" }), prefixes, asked),
      ),
      { seed: seed(4271), numRuns: runs(150) },
    );
  });

  test("for IPv4 in the direct form", () => {
    fc.assert(
      fc.property(fc.array(ipv4Prefix, { maxLength: 40 }), fc.array(ipv4Prefix, { maxLength: 10 }), (prefixes, asked) =>
        expectAsReference(build(prefixes, { ipv4: "direct" }), prefixes, asked),
      ),
      { seed: seed(4632), numRuns: runs(25) },
    );
  });

  test("for IPv6 without an index", () => {
    fc.assert(
      fc.property(fc.array(ipv6Prefix, { maxLength: 40 }), fc.array(ipv6Prefix, { maxLength: 10 }), (prefixes, asked) =>
        expectAsReference(build(prefixes), prefixes, asked),
      ),
      { seed: seed(4291), numRuns: runs(150) },
    );
  });

  test("for both families in one table", () => {
    fc.assert(
      fc.property(fc.array(anyPrefix, { maxLength: 40 }), fc.array(anyPrefix, { maxLength: 10 }), (prefixes, asked) =>
        expectAsReference(build(prefixes), prefixes, asked),
      ),
      { seed: seed(2460), numRuns: runs(100) },
    );
  });

  test("for IPv6 with the index, where the table is large", () => {
    const others = fc.tuple(fc.array(anyPrefix, { maxLength: 30 }), fc.array(ipv6Prefix, { maxLength: 5 }));
    fc.assert(
      fc.property(others, ([prefixes, asked]) => {
        const trie = build([...prefixes, ...crowd]);
        expect(trie.parts.ipv6.root.length).toBe(2 ** 16);
        const reference = new ReferenceTable([...prefixes, ...crowd]);
        for (const prefix of [...prefixes, ...asked, ...crowd.slice(0, 2)]) {
          for (const address of edgesOf(prefix)) expect([address, trie.longest(address)]).toEqual([address, reference.longest(address)]);
          expect([prefix, chain(trie, trie.covering(prefix))]).toEqual([prefix, reference.coveringChain(prefix)]);
        }
      }),
      { seed: seed(8200), numRuns: runs(25) },
    );
  });

  test("for a table whose every address is held by a chain of all lengths", () => {
    const ones = [...Array(33).keys()].map((length) => prefixOf(4, "1".repeat(length)));
    const mixed = [...Array(129).keys()].map((length) => prefixOf(6, "10".repeat(64).slice(0, length)));
    for (const ipv4 of forms) expectAsReference(build([...ones, ...mixed], { ipv4 }), [...ones, ...mixed], []);
  });
});

describe("the edges of the address space", () => {
  test.each(forms)("an empty table holds nothing (%s)", (ipv4) => {
    const trie = build([], { ipv4 });
    expect(trie.size).toBe(0);
    expect(trie.longestIpv4(0)).toBe(-1);
    expect(trie.longestIpv4(0xffff_ffff)).toBe(-1);
    expect(trie.longestIpv6(0x2001_0db8, 0, 0, 1)).toBe(-1);
    expect(trie.exact(prefixOf(4, ""))).toBe(-1);
    expect(trie.moreSpecifics(prefixOf(6, ""))).toEqual({ start: 0, end: 0 });
  });

  test.each(forms)("a default route holds every address of its family and none of the other (%s)", (ipv4) => {
    const only4 = build([prefixOf(4, "")], { ipv4 });
    for (const value of [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff]) expect(only4.longestIpv4(value)).toBe(0);
    expect(only4.longestIpv6(0, 0, 0, 0)).toBe(-1);
    const only6 = build([prefixOf(6, "")], { ipv4 });
    expect(only6.longestIpv6(0xffff_ffff, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff)).toBe(0);
    expect(only6.longestIpv4(0)).toBe(-1);
    expect(only6.covering(prefixOf(4, ""))).toBe(-1);
  });

  test.each(forms)("host routes hold one address each (%s)", (ipv4) => {
    const hosts = ["0".repeat(32), "01".repeat(16), "1".repeat(32)].map((bits) => prefixOf(4, bits));
    const trie = build(hosts, { ipv4 });
    for (const host of hosts)
      for (const address of edgesOf(host)) expect(trie.longest(address)).toBe(hosts.findIndex(({ w0 }) => w0 === address.w0));
  });

  test.each(forms)("words may come as signed integers (%s)", (ipv4) => {
    const trie = build([prefixOf(4, "11"), prefixOf(6, "1".repeat(96))], { ipv4 });
    expect(trie.longestIpv4(-1)).toBe(0);
    expect(trie.longestIpv6(-1, -1, -1, 0x7fff_ffff)).toBe(1);
    expect(trie.moreSpecifics({ version: 4, w0: -1, w1: 0, w2: 0, w3: 0, length: 1 })).toEqual({ start: 0, end: 1 });
  });

  test("bits of a question past its length do not count", () => {
    const trie = build([prefixOf(4, "1100"), prefixOf(4, "110011"), prefixOf(4, "11000000")]);
    const sloppy = (bits: string, length: number): Prefix => ({ ...addressOf(4, bits), length });
    expect(trie.exact(sloppy("110011111", 4))).toBe(0);
    expect(trie.covering(sloppy("110011111", 5))).toBe(0);
    expect(trie.moreSpecifics(sloppy("110011111", 3))).toEqual({ start: 0, end: 3 });
    expect(trie.moreSpecifics(sloppy("110011111", 5))).toEqual({ start: 2, end: 3 });
  });
});

test("longest match finds what longestIpv4 and longestIpv6 find", () => {
  const trie = build([prefixOf(4, "1"), prefixOf(6, "1")]);
  const addresses: Address[] = [addressOf(4, "1".repeat(32)), addressOf(6, "1".repeat(128)), addressOf(4, "0"), addressOf(6, "0")];
  expect(addresses.map((address) => trie.longest(address))).toEqual([0, 1, -1, -1]);
});
