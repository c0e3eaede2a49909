/** VRPs as sorted columns, which are part of a snapshot and which a `VrpSet` reads in place. */
// Indices stay below the arrays' lengths, so `!` on an element only drops `undefined` from its type.

import { formatPrefix, type Prefix } from "@netfacts/address";
import { type PrefixColumns, PrefixTrie, sortPrefixes } from "@netfacts/prefix-trie";
import type { Vrp } from "./vrp.ts";

/** Value of `ta` for "not given". */
export const taNone = 255;

/**
 * Prefixes in preorder, and the VRPs of prefix `i` at `start[i]` to `start[i + 1] - 1`, ascending by (max length, AS). So VRP numbers ascend by
 * (prefix, max length, AS), each combination once. 11 bytes per VRP, 9 or 21 per prefix.
 */
export interface VrpColumns {
  readonly prefixes: PrefixColumns;
  /** One item more than there are prefixes. */
  readonly start: Uint32Array;
  readonly asn: Uint32Array;
  readonly maxLength: Uint8Array;
  /** Index of the trust anchor's name; 255 = not given. */
  readonly ta: Uint8Array;
  /** Unix seconds; 0 = not given. */
  readonly expiresAt: Uint32Array;
  /** 1 = loose. */
  readonly loose: Uint8Array;
}

export interface EncodedVrps {
  readonly columns: VrpColumns;
  /** Ascending, without repetition. */
  readonly taNames: string[];
}

/**
 * Sorts VRPs into columns. Of VRPs equal in (prefix, max length, AS) the one that expires last is kept, and any expiry is preferred to none; it is
 * loose when any of them is. The order of the input makes no difference.
 *
 * Throws `RangeError` for a max length or AS number out of bounds and for the 256th trust anchor, `PrefixOrderError` for a prefix with host bits.
 *
 * Cost: linear, except for VRPs of one prefix, which are sorted; about 60 bytes per VRP while it runs. The objects are read once and not kept.
 */
export function encodeVrpColumns(vrps: Iterable<Vrp>): EncodedVrps {
  const { columns, taNames } = encodeWithTrie(vrps);
  return { columns, taNames };
}

/** As `encodeVrpColumns`; also returns the trie that it builds. */
export function encodeWithTrie(vrps: Iterable<Vrp>): EncodedVrps & { readonly trie: PrefixTrie } {
  const input = new UnsortedVrps();
  const prefixes = sortPrefixes(input.collect(vrps)).columns;
  const trie = PrefixTrie.build(prefixes, { ipv4: "compact" });
  return { ...input.encode(trie), trie };
}

const firstCapacity = 1024;

/** VRPs in input order, one column per member. */
class UnsortedVrps {
  #size = 0;
  #version = new Uint8Array(firstCapacity);
  #words = new Uint32Array(firstCapacity * 4);
  #length = new Uint8Array(firstCapacity);
  #asn = new Uint32Array(firstCapacity);
  #maxLength = new Uint8Array(firstCapacity);
  #ta = new Uint8Array(firstCapacity);
  #expiresAt = new Uint32Array(firstCapacity);
  #loose = new Uint8Array(firstCapacity);
  readonly #taNames: string[] = [];
  readonly #taIndex = new Map<string, number>();

  /** Stores every VRP and yields its prefix. */
  *collect(vrps: Iterable<Vrp>): Generator<Prefix> {
    for (const vrp of vrps) {
      check(vrp);
      if (this.#size === this.#asn.length) this.#grow();
      const at = this.#size++;
      const { version, w0, w1, w2, w3, length } = vrp.prefix;
      this.#version[at] = version;
      this.#words[at * 4] = w0;
      this.#words[at * 4 + 1] = w1;
      this.#words[at * 4 + 2] = w2;
      this.#words[at * 4 + 3] = w3;
      this.#length[at] = length;
      this.#asn[at] = vrp.asn;
      this.#maxLength[at] = vrp.maxLength;
      this.#ta[at] = vrp.ta === null ? taNone : this.#taNumber(vrp.ta);
      // 0 stands for "not given", so a given time is at least 1.
      this.#expiresAt[at] = vrp.expiresAt === null ? 0 : Math.min(Math.max(Math.floor(vrp.expiresAt), 1), 0xffff_ffff);
      this.#loose[at] = vrp.loose ? 1 : 0;
      yield vrp.prefix;
    }
  }

  encode(trie: PrefixTrie): EncodedVrps {
    const { items, start } = this.#byPrefix(trie);
    const kept = this.#sortAndMerge(items, start);
    const taNames = this.#taNames.toSorted(compareNames);
    const taCode = new Uint8Array(256).fill(taNone);
    for (const [index, name] of this.#taNames.entries()) taCode[index] = taNames.indexOf(name);
    const columns = {
      prefixes: trie.parts.columns,
      start,
      asn: Uint32Array.from(kept, (item) => this.#asn[item]!),
      maxLength: Uint8Array.from(kept, (item) => this.#maxLength[item]!),
      ta: Uint8Array.from(kept, (item) => taCode[this.#ta[item]!]!),
      expiresAt: Uint32Array.from(kept, (item) => this.#expiresAt[item]!),
      loose: Uint8Array.from(kept, (item) => this.#loose[item]!),
    };
    return { columns, taNames };
  }

  /** Item numbers grouped by trie entry, and the start of each group. */
  #byPrefix(trie: PrefixTrie): { items: Uint32Array; start: Uint32Array } {
    const count = this.#size;
    const entryOf = new Uint32Array(count);
    const start = new Uint32Array(trie.size + 1);
    for (let item = 0; item < count; item++) {
      const entry = this.#entryOf(trie, item);
      entryOf[item] = entry;
      start[entry + 1]!++;
    }
    for (let entry = 0; entry < trie.size; entry++) start[entry + 1]! += start[entry]!;
    const next = start.slice();
    const items = new Uint32Array(count);
    for (let item = 0; item < count; item++) items[next[entryOf[item]!]!++] = item;
    return { items, start };
  }

  /** Every prefix of the input is an entry, so the most specific entry that covers it is its own. */
  #entryOf(trie: PrefixTrie, item: number): number {
    const words = this.#words;
    const at = item * 4;
    const length = this.#length[item]!;
    if (this.#version[item] === 4) return trie.coveringIpv4(words[at]!, length);
    return trie.coveringIpv6(words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!, length);
  }

  /** Sorts each group, moves the kept items to the front and adjusts `start`. Returns the kept items. */
  #sortAndMerge(items: Uint32Array, start: Uint32Array): Uint32Array {
    let kept = 0;
    for (let entry = 0; entry + 1 < start.length; entry++) {
      const end = start[entry + 1]!;
      const first = kept;
      // Most prefixes have one VRP: a view for each would cost more than everything else.
      if (end - start[entry]! > 1) items.subarray(start[entry]!, end).sort((a, b) => this.#compare(a, b));
      for (let at = start[entry]!; at < end; at++) {
        const item = items[at]!;
        const before = kept > first ? items[kept - 1]! : -1;
        if (before >= 0 && this.#asn[before] === this.#asn[item] && this.#maxLength[before] === this.#maxLength[item])
          this.#loose[before]! |= this.#loose[item]!;
        else items[kept++] = item;
      }
      start[entry] = first;
    }
    start[start.length - 1] = kept;
    return items.subarray(0, kept);
  }

  /**
   * Compares by (max length, AS); equal ones by latest expiry first, then by the remaining members, so that the order of the input makes no
   * difference.
   */
  #compare(a: number, b: number): number {
    return (
      this.#maxLength[a]! - this.#maxLength[b]! ||
      this.#asn[a]! - this.#asn[b]! ||
      this.#expiresAt[b]! - this.#expiresAt[a]! ||
      compareNames(this.#taNames[this.#ta[a]!], this.#taNames[this.#ta[b]!])
    );
  }

  #grow(): void {
    this.#version = doubled(this.#version, new Uint8Array(this.#version.length * 2));
    this.#words = doubled(this.#words, new Uint32Array(this.#words.length * 2));
    this.#length = doubled(this.#length, new Uint8Array(this.#length.length * 2));
    this.#asn = doubled(this.#asn, new Uint32Array(this.#asn.length * 2));
    this.#maxLength = doubled(this.#maxLength, new Uint8Array(this.#maxLength.length * 2));
    this.#ta = doubled(this.#ta, new Uint8Array(this.#ta.length * 2));
    this.#expiresAt = doubled(this.#expiresAt, new Uint32Array(this.#expiresAt.length * 2));
    this.#loose = doubled(this.#loose, new Uint8Array(this.#loose.length * 2));
  }

  #taNumber(name: string): number {
    const known = this.#taIndex.get(name);
    if (known !== undefined) return known;
    if (this.#taNames.length === taNone) throw new RangeError(`more than ${taNone} trust anchors`);
    this.#taIndex.set(name, this.#taNames.length);
    return this.#taNames.push(name) - 1;
  }
}

function doubled<A extends Uint8Array | Uint32Array>(from: A, to: A): A {
  to.set(from);
  return to;
}

/** By code units; a missing name comes last. */
function compareNames(a = "\uffff", b = "\uffff"): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function check({ asn, prefix, maxLength }: Vrp): void {
  const most = prefix.version === 4 ? 32 : 128;
  if (!(Number.isInteger(maxLength) && maxLength >= prefix.length && maxLength <= most))
    throw new RangeError(`VRP ${formatPrefix(prefix)}: max length ${maxLength} is not within ${prefix.length}–${most}`);
  if (asn >>> 0 !== asn) throw new RangeError(`VRP ${formatPrefix(prefix)}: no AS number: ${asn}`);
}
