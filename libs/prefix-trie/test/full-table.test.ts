/**
 * A million real prefixes: both IPv4 forms and the IPv6 index against a hash table per length.
 *
 * @large It builds tables of a million prefixes.
 */

import { beforeAll, expect, test } from "@jest/globals";
import type { Address, Prefix } from "@netfacts/address";
import { PrefixTrie, sortPrefixes } from "../src/index.ts";
import { fullTablePath, readFullTable } from "./full-table.ts";
import { addressIn, randomWord } from "./random-address.ts";

/** Address bits as one number: nothing is shared with the trie's words and masks. */
function numberOf({ version, w0, w1, w2, w3 }: Address): bigint {
  return version === 4 ? BigInt(w0) : (BigInt(w0) << 96n) | (BigInt(w1) << 64n) | (BigInt(w2) << 32n) | BigInt(w3);
}

/** For each length in use, longest first, the prefixes by the bits that count. */
class MapPerLength {
  readonly #maps = { 4: new Map<number, Map<bigint, Prefix>>(), 6: new Map<number, Map<bigint, Prefix>>() };

  constructor(prefixes: readonly Prefix[]) {
    for (const prefix of [...prefixes].sort((a, b) => b.length - a.length)) {
      const family = this.#maps[prefix.version];
      const map = family.get(prefix.length) ?? new Map<bigint, Prefix>();
      family.set(prefix.length, map.set(this.#key(prefix, prefix.length), prefix));
    }
  }

  longest(address: Address): Prefix | null {
    const bits = address.version === 4 ? 32n : 128n;
    const value = numberOf(address);
    for (const [length, map] of this.#maps[address.version]) {
      const found = map.get(value >> (bits - BigInt(length)));
      if (found !== undefined) return found;
    }
    return null;
  }

  #key(prefix: Prefix, length: number): bigint {
    return numberOf(prefix) >> ((prefix.version === 4 ? 32n : 128n) - BigInt(length));
  }
}

const prefixes = readFullTable();
let sorted: ReturnType<typeof sortPrefixes>;
let compact: PrefixTrie;
beforeAll(() => {
  if (prefixes === null) return;
  sorted = sortPrefixes(prefixes);
  compact = PrefixTrie.build(sorted.columns, { ipv4: "compact" });
});

test("matches 100,000 random and 100,000 announced addresses of a full table as a hash table per length does", () => {
  if (prefixes === null) {
    console.log(`not run: the full-size table is not at ${fullTablePath}`);
    return;
  }
  expect(prefixes).toHaveLength(1_045_469);
  const direct = PrefixTrie.build(sorted.columns);
  expect([direct.size, direct.parts.ipv4.form, compact.parts.ipv4.form]).toEqual([1_045_469, "direct", "compact"]);

  const next = randomWord(890_000);
  const addresses: Address[] = [];
  for (let count = 0; count < 50_000; count++) {
    addresses.push({ version: 4, w0: next(), w1: 0, w2: 0, w3: 0 });
    // Uniform IPv6 addresses hit nothing: these share 20 bits with an announced one.
    const near = prefixes[next() % prefixes.length] as Prefix;
    const w0 = near.version === 6 ? (near.w0 & 0xffff_f000) | (next() & 0xfff) : 0x2a00_0000 | (next() & 0xff_ffff);
    addresses.push({ version: 6, w0: w0 >>> 0, w1: next(), w2: next(), w3: next() });
    addresses.push(addressIn(direct.prefixAt(next() % direct.ipv4Count), next));
    addresses.push(addressIn(direct.prefixAt(direct.ipv4Count + (next() % direct.ipv6Count)), next));
  }

  const oracle = new MapPerLength(prefixes);
  let differences = 0;
  let matched = 0;
  for (const address of addresses) {
    const expected = oracle.longest(address);
    const entry = direct.longest(address);
    const found = entry < 0 ? null : direct.prefixAt(entry);
    const same =
      found?.version === expected?.version &&
      found?.length === expected?.length &&
      (found === null || expected === null || numberOf(found) === numberOf(expected));
    if (!same || compact.longest(address) !== entry) {
      if (differences++ < 5) console.log("differs", address, expected, found);
    }
    if (expected !== null) matched++;
  }
  expect(differences).toBe(0);
  expect(matched).toBeGreaterThan(130_000);
});

test("every prefix of a full table is found, and lies where its parent and subtree end say", () => {
  if (prefixes === null) {
    console.log(`not run: the full-size table is not at ${fullTablePath}`);
    return;
  }
  const { order } = sorted;
  const trie = compact;
  let wrong = 0;
  for (let entry = 0; entry < trie.size; entry++) {
    if (trie.exact(prefixes[order[entry] as number] as Prefix) !== entry) wrong++;
    const parent = trie.parent(entry);
    if (parent >= entry || (parent >= 0 && (trie.end(parent) < trie.end(entry) || trie.lengthAt(parent) >= trie.lengthAt(entry)))) wrong++;
    const after = trie.end(entry);
    if (after < trie.size && trie.parent(after) >= entry) wrong++;
  }
  expect(wrong).toBe(0);
});
