/** The prefix trie, flattened: sorted prefixes, parent links, subtree ends, and an index per family for the longest match. */
// Entry numbers and indices stay below the arrays' lengths, so `!` on an element only drops `undefined` from its type.

import type { Address, AddressList, Prefix } from "@netfacts/address";
import type { PrefixColumns } from "./columns.ts";
import { buildIpv4Compact, type Ipv4Compact } from "./ipv4-compact.ts";
import { buildIpv4Direct, countIpv4Groups, type Ipv4Direct, ipv4DirectMin, ipv4GroupsMax } from "./ipv4-direct.ts";
import { buildIpv6Index, type Ipv6Index } from "./ipv6-index.ts";
import { linkPrefixes } from "./links.ts";
import { netmask, wordMask } from "./words.ts";

export interface PrefixTrieOptions {
  /**
   * "direct": 64 MiB and 1 KiB per /24 that holds longer prefixes; two reads per match. "compact": at most 256 KiB; a search and a walk per match.
   * Default: direct if there are at least `ipv4DirectMin` IPv4 prefixes and at most `ipv4GroupsMax` groups.
   */
  readonly ipv4?: "direct" | "compact";
}

/**
 * The parts of a trie: plain data for `structuredClone` and `postMessage`. All arrays from `build` are in SharedArrayBuffers, so posting them copies
 * nothing; `columns` are the caller's own and are shared if their buffers are.
 */
export interface PrefixTrieParts {
  readonly columns: PrefixColumns;
  /** For each entry the next less specific one, -1 at the top. */
  readonly parent: Int32Array;
  /** For each entry the number after its last more specific one. */
  readonly end: Uint32Array;
  readonly ipv4: Ipv4Direct | Ipv4Compact;
  readonly ipv6: Ipv6Index;
}

/** Entries `start` to `end - 1`. */
export interface EntryRange {
  readonly start: number;
  readonly end: number;
}

/**
 * An immutable set of IPv4 and IPv6 prefixes. Entries are numbered 0 to size − 1: IPv4 before IPv6, each ascending by
 * (address, length), so a prefix is followed by all its more-specifics; payloads are arrays indexed by entry.
 *
 * Arguments: address words may be signed or unsigned. Bits of a prefix past its length are ignored, as if masked. An
 * entry must be one of this trie; another gives no defined answer. `-1` is "none" everywhere.
 *
 * Families are apart: `0.0.0.0/0` covers no IPv6 address and `::/0` no IPv4 one. A default route is an entry like any other.
 *
 * Concurrency: nothing is written after `build`; read from any number of threads, through `parts`, without locks.
 * Reads allocate nothing, except `prefixAt` and `moreSpecifics`, which return one small object.
 */
export class PrefixTrie {
  readonly parts: PrefixTrieParts;
  readonly size: number;
  readonly ipv4Count: number;
  readonly ipv6Count: number;

  // The arrays of `parts`, without an indirection. An array that the chosen form lacks is empty.
  readonly #address: Uint32Array;
  readonly #length4: Uint8Array;
  readonly #words: Uint32Array;
  readonly #length6: Uint8Array;
  readonly #parent: Int32Array;
  readonly #end: Uint32Array;
  readonly #slots: Int32Array;
  readonly #groups: Int32Array;
  readonly #start: Uint32Array;
  readonly #shift: number;
  readonly #root: Int32Array;
  readonly #pages: Int32Array;
  readonly #runs: Uint32Array;
  readonly #second: Uint32Array;

  private constructor(parts: PrefixTrieParts) {
    const { columns, ipv4, ipv6 } = parts;
    this.parts = parts;
    this.ipv4Count = columns.ipv4.length.length;
    this.ipv6Count = columns.ipv6.length.length;
    this.size = this.ipv4Count + this.ipv6Count;
    this.#address = columns.ipv4.address;
    this.#length4 = columns.ipv4.length;
    this.#words = columns.ipv6.words;
    this.#length6 = columns.ipv6.length;
    this.#parent = parts.parent;
    this.#end = parts.end;
    this.#slots = ipv4.form === "direct" ? ipv4.slots : new Int32Array(0);
    this.#groups = ipv4.form === "direct" ? ipv4.groups : new Int32Array(0);
    this.#start = ipv4.form === "compact" ? ipv4.start : new Uint32Array(0);
    this.#shift = ipv4.form === "compact" ? ipv4.shift : 0;
    this.#root = ipv6.root;
    this.#pages = ipv6.pages;
    this.#runs = ipv6.runs;
    this.#second = ipv6.second;
  }

  /**
   * Builds the trie of a set of prefixes. The columns are read in place and stay in use; they must not change any more.
   *
   * Throws `PrefixOrderError`, with family and index, when they are not strictly ascending or a prefix has bits past its length.
   *
   * Cost: two steps per prefix and, for "direct", one write per covered /24: 0.1 to 0.3 s for 890,000 + 160,000 prefixes, most of it new memory.
   */
  static build(columns: PrefixColumns, options: PrefixTrieOptions = {}): PrefixTrie {
    const { parent, end } = linkPrefixes(columns);
    const form = options.ipv4 ?? defaultForm(columns);
    const ipv4 = form === "direct" ? buildIpv4Direct(columns.ipv4, parent) : buildIpv4Compact(columns.ipv4);
    const ipv6 = buildIpv6Index(columns.ipv6, parent, columns.ipv4.length.length);
    return new PrefixTrie({ columns, parent, end, ipv4, ipv6 });
  }

  /** Wraps the `parts` of a trie, for example from another thread. Nothing is computed, copied or checked. */
  static fromParts(parts: PrefixTrieParts): PrefixTrie {
    return new PrefixTrie(parts);
  }

  /** The most specific entry that holds the address. Cost: as `longestIpv4` and `longestIpv6`. */
  longest(address: Address): number {
    return address.version === 4 ? this.longestIpv4(address.w0) : this.longestIpv6(address.w0, address.w1, address.w2, address.w3);
  }

  /**
   * The most specific entry that holds the IPv4 address.
   *
   * Cost: "direct" one or two reads; "compact" a search of one /16's entries and a walk up to the match.
   */
  longestIpv4(value: number): number {
    const slots = this.#slots;
    if (slots.length === 0) return this.#searchIpv4(value >>> 0);
    const found = slots[value >>> 8]!;
    return (found >= 0 ? found : this.#groups[~found * 256 + (value & 255)]!) - 1;
  }

  /**
   * The most specific entry that holds the IPv6 address.
   *
   * Cost: one to three reads if no prefix of the address' /32 is longer, otherwise also a search of that /32's entries and a walk up to the match;
   * without an index (small sets) a search of all.
   */
  longestIpv6(w0: number, w1: number, w2: number, w3: number): number {
    if (this.#root.length === 0) return this.#searchIpv6(0, this.ipv6Count, w0 >>> 0, w1 >>> 0, w2 >>> 0, w3 >>> 0);
    return this.#matchIpv6(this.#indexIpv6(w0), w0, w1, w2, w3);
  }

  /**
   * `longest` of every address of a list, written to `entries`, which has the same length. Costs less than single lookups if the index is not in a
   * near cache, as the reads of one step do not wait for each other.
   */
  longestOfList(list: AddressList, entries: Int32Array): void {
    const { versions, words, count } = list;
    const indexed = this.#root.length > 0;
    for (let index = 0; index < count; index++) {
      const w0 = words[index * 4]!;
      if (versions[index] === 4) entries[index] = this.longestIpv4(w0);
      else if (indexed) entries[index] = this.#indexIpv6(w0);
    }
    for (let index = 0; index < count; index++) {
      if (versions[index] === 4) continue;
      const at = index * 4;
      const w0 = words[at]!;
      const w1 = words[at + 1]!;
      const w2 = words[at + 2]!;
      const w3 = words[at + 3]!;
      entries[index] = indexed ? this.#matchIpv6(entries[index]!, w0, w1, w2, w3) : this.longestIpv6(w0, w1, w2, w3);
    }
  }

  /** The entry of exactly this prefix. Cost: as `covering`. */
  exact(prefix: Prefix): number {
    const entry = this.covering(prefix);
    return entry >= 0 && this.lengthAt(entry) === prefix.length ? entry : -1;
  }

  /**
   * The most specific entry equal to the prefix or covering it; with `parent`, the whole chain of covering entries.
   *
   * Cost: one longest match and a step per entry between it and the answer.
   */
  covering(prefix: Prefix): number {
    const { w0, w1, w2, w3, length } = prefix;
    return prefix.version === 4 ? this.coveringIpv4(w0, length) : this.coveringIpv6(w0, w1, w2, w3, length);
  }

  /** `covering` of an IPv4 prefix given as numbers. */
  coveringIpv4(value: number, length: number): number {
    let entry = this.longestIpv4(value);
    while (entry >= 0 && this.#length4[entry]! > length) entry = this.#parent[entry]!;
    return entry;
  }

  /** `covering` of an IPv6 prefix given as numbers. */
  coveringIpv6(w0: number, w1: number, w2: number, w3: number, length: number): number {
    let entry = this.longestIpv6(w0, w1, w2, w3);
    while (entry >= 0 && this.#length6[entry - this.ipv4Count]! > length) entry = this.#parent[entry]!;
    return entry;
  }

  /** The next less specific entry. One read. */
  parent(entry: number): number {
    return this.#parent[entry]!;
  }

  /** The number after the entry's last more specific one: these are `entry + 1` to `end(entry) - 1`. One read. */
  end(entry: number): number {
    return this.#end[entry]!;
  }

  /**
   * Entries strictly inside the prefix, without an equal entry. If there are none, `start` equals `end` and is their insertion point.
   *
   * Cost: one longest match if the prefix is an entry, otherwise two more searches of its family.
   */
  moreSpecifics(prefix: Prefix): EntryRange {
    const entry = this.covering(prefix);
    if (entry >= 0 && this.lengthAt(entry) === prefix.length) return { start: entry + 1, end: this.#end[entry]! };
    return prefix.version === 4 ? this.#rangeIpv4(prefix) : this.#rangeIpv6(prefix);
  }

  /** The entry's prefix, as a new object. */
  prefixAt(entry: number): Prefix {
    if (entry < this.ipv4Count) return { version: 4, w0: this.#address[entry]!, w1: 0, w2: 0, w3: 0, length: this.#length4[entry]! };
    const index = entry - this.ipv4Count;
    const words = this.#words;
    const at = index * 4;
    return { version: 6, w0: words[at]!, w1: words[at + 1]!, w2: words[at + 2]!, w3: words[at + 3]!, length: this.#length6[index]! };
  }

  /** The entry's prefix length. One read. */
  lengthAt(entry: number): number {
    return entry < this.ipv4Count ? this.#length4[entry]! : this.#length6[entry - this.ipv4Count]!;
  }

  // The entry that holds an address is the last entry that begins at or below it, or one of that entry's parents.
  #searchIpv4(value: number): number {
    const address = this.#address;
    const slot = value >>> this.#shift;
    let low = this.#start[slot]!;
    let high = this.#start[slot + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (address[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    let entry = low - 1;
    while (entry >= 0 && ((value ^ address[entry]!) & netmask[this.#length4[entry]!]!) !== 0) entry = this.#parent[entry]!;
    return entry;
  }

  /** `#searchIpv6` among entries of more than 32 bits that share the first 32: by their second words, which nearly always decide. */
  #searchRun(first: number, last: number, w0: number, w1: number, w2: number, w3: number): number {
    const second = this.#second;
    let low = first;
    let count = last - first;
    while (count > 0) {
      const half = count >>> 1;
      if (second[low + half]! <= w1) {
        low += half + 1;
        count -= half + 1;
      } else count = half;
    }
    // Several entries may begin with these 64 bits, some of them above the address.
    const at = low - 1;
    if (at > first && second[at] === w1 && second[at - 1] === w1) return this.#searchIpv6(first, low, w0, w1, w2, w3);
    if (at < first) return this.#holderAbove(this.ipv4Count + first, w0, w1, w2, w3);
    const length = this.#length6[at]!;
    const holds = length <= 64 ? ((second[at]! ^ w1) & netmask[length - 32]!) === 0 : this.#holds(at, w0, w1, w2, w3);
    return holds ? this.ipv4Count + at : this.#holderAbove(this.ipv4Count + at, w0, w1, w2, w3);
  }

  /** The value of the index for the first 32 bits. */
  #indexIpv6(w0: number): number {
    const pages = this.#pages;
    let found = this.#root[w0 >>> 16]!;
    if (found < 0) found = pages[~found * 256 + ((w0 >>> 8) & 255)]!;
    if (found < 0) found = pages[~found * 256 + (w0 & 255)]!;
    return found;
  }

  /** The longest match for a value of the index. */
  #matchIpv6(found: number, w0: number, w1: number, w2: number, w3: number): number {
    if (found >= 0) return found === 0 ? -1 : this.ipv4Count + found - 1;
    const run = ~found * 2;
    return this.#searchRun(this.#runs[run]!, this.#runs[run + 1]!, w0 >>> 0, w1 >>> 0, w2 >>> 0, w3 >>> 0);
  }

  /** Searches IPv6 indices `first` to `last - 1`, a run or all, then walks up. */
  #searchIpv6(first: number, last: number, w0: number, w1: number, w2: number, w3: number): number {
    let low = first;
    let high = last;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#startsAtOrBelow(middle, w0, w1, w2, w3)) low = middle + 1;
      else high = middle;
    }
    const offset = this.ipv4Count;
    // If the address is below the whole run, only an entry around the run's first entry can hold it.
    if (low === first) return first < last ? this.#holderAbove(offset + first, w0, w1, w2, w3) : -1;
    const entry = offset + low - 1;
    return this.#holds(low - 1, w0, w1, w2, w3) ? entry : this.#holderAbove(entry, w0, w1, w2, w3);
  }

  #holderAbove(below: number, w0: number, w1: number, w2: number, w3: number): number {
    let entry = this.#parent[below]!;
    while (entry >= 0 && !this.#holds(entry - this.ipv4Count, w0, w1, w2, w3)) entry = this.#parent[entry]!;
    return entry;
  }

  #startsAtOrBelow(index: number, w0: number, w1: number, w2: number, w3: number): boolean {
    const words = this.#words;
    const at = index * 4;
    // Most comparisons end at the second word: within a run the first is the same, and few prefixes are longer than /64.
    if (words[at]! !== w0) return words[at]! < w0;
    if (words[at + 1]! !== w1) return words[at + 1]! < w1;
    if (words[at + 2]! !== w2) return words[at + 2]! < w2;
    return words[at + 3]! <= w3;
  }

  #holds(index: number, w0: number, w1: number, w2: number, w3: number): boolean {
    const words = this.#words;
    const at = index * 4;
    const length = this.#length6[index]!;
    if (length <= 32) return ((words[at]! ^ w0) & netmask[length]!) === 0;
    if (words[at] !== w0) return false;
    if (length <= 64) return ((words[at + 1]! ^ w1) & netmask[length - 32]!) === 0;
    if (words[at + 1] !== w1) return false;
    if (length <= 96) return ((words[at + 2]! ^ w2) & netmask[length - 64]!) === 0;
    return words[at + 2] === w2 && ((words[at + 3]! ^ w3) & netmask[length - 96]!) === 0;
  }

  // Range of a prefix that is not an entry: from after the entries that begin at its first address, back over those of them that are longer (the
  // others cover it), to the last entry that begins at or below its last address.
  #rangeIpv4({ w0, length }: Prefix): EntryRange {
    const mask = netmask[length]!;
    const first = (w0 & mask) >>> 0;
    let start = this.#countUpToIpv4(first);
    while (start > 0 && this.#length4[start - 1]! > length && this.#address[start - 1] === first) start--;
    return { start, end: this.#countUpToIpv4((w0 | ~mask) >>> 0) };
  }

  /** Number of IPv4 entries that begin at or below an address. */
  #countUpToIpv4(value: number): number {
    let low = 0;
    let high = this.ipv4Count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#address[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #rangeIpv6({ w0, w1, w2, w3, length }: Prefix): EntryRange {
    const mask0 = wordMask(length, 0);
    const mask1 = wordMask(length, 1);
    const mask2 = wordMask(length, 2);
    const mask3 = wordMask(length, 3);
    const last = this.#countUpToIpv6((w0 | ~mask0) >>> 0, (w1 | ~mask1) >>> 0, (w2 | ~mask2) >>> 0, (w3 | ~mask3) >>> 0);
    const f0 = (w0 & mask0) >>> 0;
    const f1 = (w1 & mask1) >>> 0;
    const f2 = (w2 & mask2) >>> 0;
    const f3 = (w3 & mask3) >>> 0;
    let start = this.#countUpToIpv6(f0, f1, f2, f3);
    while (start > 0 && this.#length6[start - 1]! > length && this.#beginsAt(start - 1, f0, f1, f2, f3)) start--;
    return { start: this.ipv4Count + start, end: this.ipv4Count + last };
  }

  #beginsAt(index: number, w0: number, w1: number, w2: number, w3: number): boolean {
    const words = this.#words;
    const at = index * 4;
    return words[at] === w0 && words[at + 1] === w1 && words[at + 2] === w2 && words[at + 3] === w3;
  }

  /** Number of IPv6 entries that begin at or below an address. */
  #countUpToIpv6(w0: number, w1: number, w2: number, w3: number): number {
    let low = 0;
    let high = this.ipv6Count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#startsAtOrBelow(middle, w0, w1, w2, w3)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function defaultForm({ ipv4 }: PrefixColumns): "direct" | "compact" {
  return ipv4.length.length >= ipv4DirectMin && countIpv4Groups(ipv4) <= ipv4GroupsMax ? "direct" : "compact";
}
