/** Longest match: the trie's forms beside a hash table per length and a binary tree, in one run of interleaved rounds. */
// Addresses are four words each, so `!` on an element only drops `undefined` from its type.

import { availableParallelism, cpus } from "node:os";
import { parseArgs } from "node:util";
import type { Prefix } from "@netfacts/address";
import { type PrefixColumns, PrefixTrie, sortPrefixes } from "../src/index.ts";
import { fullTablePath, readFullTable } from "../test/full-table.ts";
import { addressIn, randomWord } from "../test/random-address.ts";

const { values } = parseArgs({ options: { lookups: { type: "string", default: "300000" }, rounds: { type: "string", default: "5" } } });
const lookups = Number(values.lookups);
const rounds = Number(values.rounds);

/** Four words per address. */
type Words = Uint32Array;

interface Contender {
  readonly name: string;
  readonly family: 4 | 6;
  /** Adds up the matches of all addresses, so that none is optimised away and all sides can be compared. */
  readonly match: (words: Words) => number;
}

/** A hash table per length, longest first: what one writes in an afternoon. */
function mapPerLengthIpv4({ ipv4 }: PrefixColumns): (value: number) => number {
  const maps = new Map<number, Map<number, number>>();
  for (let length = 32; length >= 0; length--) maps.set(length, new Map());
  ipv4.length.forEach((length, entry) => {
    maps.get(length)?.set(ipv4.address[entry] as number, entry);
  });
  const used = [...maps].filter(([, map]) => map.size > 0).map(([length, map]) => ({ mask: length === 0 ? 0 : -1 << (32 - length), map }));
  return (value) => {
    for (const { mask, map } of used) {
      const entry = map.get((value & mask) >>> 0);
      if (entry !== undefined) return entry;
    }
    return -1;
  };
}

function mapPerLengthIpv6({ ipv6 }: PrefixColumns, offset: number): (w0: number, w1: number, w2: number, w3: number) => number {
  const maps = new Map<number, Map<bigint, number>>();
  for (let length = 128; length >= 0; length--) maps.set(length, new Map());
  const wide = (w0: number, w1: number, w2: number, w3: number): bigint =>
    (((((BigInt(w0) << 32n) | BigInt(w1)) << 32n) | BigInt(w2)) << 32n) | BigInt(w3);
  const { words } = ipv6;
  ipv6.length.forEach((length, index) => {
    const at = index * 4;
    const value = wide(words[at] as number, words[at + 1] as number, words[at + 2] as number, words[at + 3] as number);
    maps.get(length)?.set(value >> BigInt(128 - length), offset + index);
  });
  const used = [...maps].filter(([, map]) => map.size > 0).map(([length, map]) => ({ shift: BigInt(128 - length), map }));
  return (w0, w1, w2, w3) => {
    const value = wide(w0, w1, w2, w3);
    for (const { shift, map } of used) {
      const entry = map.get(value >> shift);
      if (entry !== undefined) return entry;
    }
    return -1;
  };
}

/** A binary tree in an array, one bit a step, as a MaxMind DB file is walked. */
class BinaryTree {
  #nodes = new Int32Array(1 << 16);
  #count = 1;
  readonly #entry: Int32Array;

  constructor(trie: PrefixTrie, family: 4 | 6) {
    const first = family === 4 ? 0 : trie.ipv4Count;
    const end = family === 4 ? trie.ipv4Count : trie.size;
    const entries: [node: number, entry: number][] = [];
    for (let entry = first; entry < end; entry++) {
      const prefix = trie.prefixAt(entry);
      let node = 0;
      for (let bit = 0; bit < prefix.length; bit++) node = this.#child(node, bitOf(prefix, bit));
      entries.push([node, entry]);
    }
    this.#entry = new Int32Array(this.#count).fill(-1);
    for (const [node, entry] of entries) this.#entry[node] = entry;
  }

  get bytes(): number {
    return this.#count * 12;
  }

  longest(w0: number, w1: number, w2: number, w3: number): number {
    let node = 0;
    let best = this.#entry[0] as number;
    let word = w0;
    for (let bit = 0; ; bit++) {
      if (bit === 32) word = w1;
      else if (bit === 64) word = w2;
      else if (bit === 96) word = w3;
      node = this.#nodes[node * 2 + ((word >>> (31 - (bit & 31))) & 1)] as number;
      if (node === 0) return best;
      const entry = this.#entry[node] as number;
      if (entry >= 0) best = entry;
    }
  }

  #child(node: number, bit: 0 | 1): number {
    const at = node * 2 + bit;
    if (this.#nodes[at] !== 0) return this.#nodes[at] as number;
    if (this.#count * 2 + 2 > this.#nodes.length) {
      const larger = new Int32Array(this.#nodes.length * 2);
      larger.set(this.#nodes);
      this.#nodes = larger;
    }
    this.#nodes[at] = this.#count;
    return this.#count++;
  }
}

function bitOf(prefix: Prefix, bit: number): 0 | 1 {
  const word = bit < 32 ? prefix.w0 : bit < 64 ? prefix.w1 : bit < 96 ? prefix.w2 : prefix.w3;
  return ((word >>> (31 - (bit & 31))) & 1) as 0 | 1;
}

const median = (numbers: readonly number[]): number => [...numbers].sort((a, b) => a - b)[numbers.length >> 1] as number;

function timed<T>(run: () => T): { result: T; ms: number } {
  const started = performance.now();
  const result = run();
  return { result, ms: performance.now() - started };
}

const prefixes = readFullTable();
if (prefixes === null) {
  console.log(`not run: the full-size table is not at ${fullTablePath}`);
  process.exit(0);
}
const sorted = timed(() => sortPrefixes(prefixes));
const { columns } = sorted.result;
const buildMs = { direct: [] as number[], compact: [] as number[] };
for (let round = 0; round < rounds; round++)
  for (const form of ["direct", "compact"] as const) buildMs[form].push(timed(() => PrefixTrie.build(columns, { ipv4: form })).ms);
const direct = PrefixTrie.build(columns, { ipv4: "direct" });
const compact = PrefixTrie.build(columns, { ipv4: "compact" });
const tree4 = new BinaryTree(direct, 4);
const tree6 = new BinaryTree(direct, 6);
const map4 = mapPerLengthIpv4(columns);
const map6 = mapPerLengthIpv6(columns, direct.ipv4Count);

// Each side has a loop of its own: one loop for all would call through an unpredictable pointer and level them down.
const contenders: Contender[] = [
  {
    name: "trie, direct",
    family: 4,
    match: (words) => {
      let sum = 0;
      for (let at = 0; at < words.length; at += 4) sum += direct.longestIpv4(words[at]!);
      return sum;
    },
  },
  {
    name: "trie, compact",
    family: 4,
    match: (words) => {
      let sum = 0;
      for (let at = 0; at < words.length; at += 4) sum += compact.longestIpv4(words[at]!);
      return sum;
    },
  },
  {
    name: "map per length",
    family: 4,
    match: (words) => {
      let sum = 0;
      for (let at = 0; at < words.length; at += 4) sum += map4(words[at]!);
      return sum;
    },
  },
  {
    name: "binary tree",
    family: 4,
    match: (words) => {
      let sum = 0;
      for (let at = 0; at < words.length; at += 4) sum += tree4.longest(words[at]!, 0, 0, 0);
      return sum;
    },
  },
  {
    name: "trie",
    family: 6,
    match: (words) => {
      let sum = 0;
      for (let at = 0; at < words.length; at += 4) sum += direct.longestIpv6(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!);
      return sum;
    },
  },
  {
    name: "map per length",
    family: 6,
    match: (words) => {
      let sum = 0;
      for (let at = 0; at < words.length; at += 4) sum += map6(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!);
      return sum;
    },
  },
  {
    name: "binary tree",
    family: 6,
    match: (words) => {
      let sum = 0;
      for (let at = 0; at < words.length; at += 4) sum += tree6.longest(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!);
      return sum;
    },
  },
];

/** Random: IPv4 anywhere, IPv6 in 2000::/3. Announced: inside an entry drawn at random. */
function addresses(family: 4 | 6, kind: "random" | "announced"): Words {
  const next = randomWord(family * 10 + kind.length);
  const first = family === 4 ? 0 : direct.ipv4Count;
  const count = family === 4 ? direct.ipv4Count : direct.ipv6Count;
  const words = new Uint32Array(lookups * 4);
  for (let at = 0; at < words.length; at += 4) {
    const { w0, w1, w2, w3 } =
      kind === "announced"
        ? addressIn(direct.prefixAt(first + (next() % count)), next)
        : { w0: family === 4 ? next() : (0x2000_0000 | (next() >>> 3)) >>> 0, w1: next(), w2: next(), w3: next() };
    words.set(family === 4 ? [w0, 0, 0, 0] : [w0, w1, w2, w3], at);
  }
  return words;
}

const results: { family: number; addresses: string; name: string; perSecond: number }[] = [];
for (const family of [4, 6] as const) {
  for (const kind of ["random", "announced"] as const) {
    const words = addresses(family, kind);
    const sides = contenders.filter((contender) => contender.family === family);
    const times = sides.map((): number[] => []);
    // The first round is warm-up. The sides take turns, so that a noisy moment meets all of them.
    for (let round = 0; round <= rounds; round++) {
      const sums = sides.map((side, index) => {
        const { result, ms } = timed(() => side.match(words));
        if (round > 0) times[index]?.push(ms);
        return result;
      });
      if (new Set(sums).size !== 1)
        throw new Error(`the sides differ: ${sides.map(({ name }, index) => `${name} ${sums[index]}`).join(", ")}`);
    }
    sides.forEach(({ name }, index) => {
      results.push({ family, addresses: kind, name, perSecond: Math.round((lookups / median(times[index] as number[])) * 1000) });
    });
  }
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
const { parent, end, ipv4, ipv6 } = direct.parts;
const directBytes = ipv4.form === "direct" ? ipv4.slots.byteLength + ipv4.groups.byteLength : 0;
const compactBytes = compact.parts.ipv4.form === "compact" ? compact.parts.ipv4.start.byteLength : 0;
const memory = {
  columns:
    columns.ipv4.address.byteLength + columns.ipv4.length.byteLength + columns.ipv6.words.byteLength + columns.ipv6.length.byteLength,
  links: parent.byteLength + end.byteLength,
  ipv4Direct: directBytes,
  ipv4Compact: compactBytes,
  ipv6Index: ipv6.root.byteLength + ipv6.pages.byteLength + ipv6.runs.byteLength + ipv6.second.byteLength,
  binaryTrees: tree4.bytes + tree6.bytes,
};
const build = {
  sortMs: Math.round(sorted.ms),
  directMs: Math.round(median(buildMs.direct)),
  compactMs: Math.round(median(buildMs.compact)),
};

console.log(
  `${direct.ipv4Count} IPv4 and ${direct.ipv6Count} IPv6 prefixes; ${lookups} addresses, median of ${rounds} interleaved rounds\n`,
);
console.log("family  addresses  side              M/s   ns each");
for (const { family, addresses: kind, name, perSecond } of results)
  console.log(
    `IPv${family}    ${kind.padEnd(9)}  ${name.padEnd(14)} ${(perSecond / 1e6).toFixed(1).padStart(6)}  ${(1e9 / perSecond).toFixed(0).padStart(8)}`,
  );
console.log(`\nbuild: sort ${build.sortMs} ms (once, cold); direct ${build.directMs} ms, compact ${build.compactMs} ms`);
console.log(
  `MiB: ${Object.entries(memory)
    .map(([name, bytes]) => `${name} ${mib(bytes)}`)
    .join(", ")}\n`,
);
const machine = {
  node: process.version,
  cpu: cpus()[0]?.model ?? "unknown",
  cores: availableParallelism(),
  date: new Date().toISOString().slice(0, 10),
};
console.log(JSON.stringify({ bench: "longest-match", lookups, rounds, results, build, memory, machine }));
