/** Base prefixes with an overlay of changes on top, read as one set. */

import { type Address, type AddressList, containsPrefix, type Prefix } from "@netfacts/address";
import type { PrefixTrie } from "@netfacts/prefix-trie";

/** Prefixes that hold this many others have their share summed once. */
const rememberedFrom = 4_096;

/**
 * Two tries read as one. An overlay entry replaces the base entry of the same prefix; `removed` marks overlay entries that
 * withdraw theirs. Entries are numbered: the base's as they are, the overlay's after them.
 *
 * Reads allocate nothing but the lists they return, and the shares that are kept. Immutable otherwise; safe from any thread.
 */
export class LayeredPrefixes {
  readonly base: PrefixTrie;
  readonly overlay: PrefixTrie | null;
  readonly #removed: Uint8Array;
  /** 1 where an overlay entry stands for the base entry. */
  readonly #replaced: Uint8Array | null;
  /** By prefix. Few prefixes hold so many others that their share is kept, so there is no bound. */
  readonly #shares = new Map<string, number>();

  /** `removed` has one byte per overlay entry: 1 = the prefix is withdrawn. */
  constructor(base: PrefixTrie, overlay: PrefixTrie | null = null, removed: Uint8Array = new Uint8Array(overlay?.size ?? 0)) {
    this.base = base;
    this.overlay = overlay === null || overlay.size === 0 ? null : overlay;
    this.#removed = removed;
    this.#replaced = null;
    if (this.overlay !== null) {
      this.#replaced = new Uint8Array(base.size);
      for (let entry = 0; entry < this.overlay.size; entry++) {
        const under = base.exact(this.overlay.prefixAt(entry));
        if (under >= 0) this.#replaced[under] = 1;
      }
    }
  }

  /** The most specific entry that holds the address, -1 when none does. */
  longest(address: Address): number {
    if (this.overlay === null) return this.base.longest(address);
    return this.#deeper(this.#visibleBase(this.base.longest(address)), this.#visibleOverlay(this.overlay.longest(address)));
  }

  /** `longest` of every address of a list, into as many `entries`; costs less than one after the other. */
  longestOfList(list: AddressList, entries: Int32Array): void {
    if (this.overlay === null) this.base.longestOfList(list, entries);
    else for (let index = 0; index < list.count; index++) entries[index] = this.longest(list.at(index));
  }

  /** The entry of exactly this prefix, -1 when there is none. */
  exact(prefix: Prefix): number {
    if (this.overlay === null) return this.base.exact(prefix);
    const over = this.overlay.exact(prefix);
    if (over >= 0) return this.#removed[over] === 1 ? -1 : this.base.size + over;
    return this.base.exact(prefix);
  }

  /** The most specific entry equal to the prefix or covering it, -1 when there is none. */
  covering(prefix: Prefix): number {
    if (this.overlay === null) return this.base.covering(prefix);
    return this.#deeper(this.#visibleBase(this.base.covering(prefix)), this.#visibleOverlay(this.overlay.covering(prefix)));
  }

  /** The next less specific entry, -1 at the top. */
  parent(entry: number): number {
    if (this.overlay === null) return this.base.parent(entry);
    const prefix = this.prefixAt(entry);
    const [base, over] =
      entry < this.base.size
        ? [this.base.parent(entry), this.#strictlyCovering(this.overlay, prefix)]
        : [this.#strictlyCovering(this.base, prefix), this.overlay.parent(entry - this.base.size)];
    return this.#deeper(this.#visibleBase(base), this.#visibleOverlay(over));
  }

  /** Entries strictly inside the prefix, ascending by (address, length), without the first `skipped`: these cost a step each under an overlay. */
  *moreSpecifics(prefix: Prefix, skipped = 0): Generator<number> {
    const inBase = this.base.moreSpecifics(prefix);
    if (this.overlay === null) {
      for (let entry = inBase.start + skipped; entry < inBase.end; entry++) yield entry;
      return;
    }
    let left = skipped;
    for (const entry of this.#moreSpecificsOfBoth(prefix, this.overlay)) if (left-- <= 0) yield entry;
  }

  *#moreSpecificsOfBoth(prefix: Prefix, overlay: PrefixTrie): Generator<number> {
    const inBase = this.base.moreSpecifics(prefix);
    const inOverlay = overlay.moreSpecifics(prefix);
    let base = inBase.start;
    let over = inOverlay.start;
    while (base < inBase.end || over < inOverlay.end) {
      if (base < inBase.end && this.#replaced?.[base] === 1) base++;
      else if (over < inOverlay.end && this.#removed[over] === 1) over++;
      else if (over >= inOverlay.end || (base < inBase.end && before(this.base.prefixAt(base), overlay.prefixAt(over)))) yield base++;
      else yield this.base.size + over++;
    }
  }

  /** How many entries lie strictly inside the prefix. Costs a search where there is no overlay, else a step for each. */
  countMoreSpecifics(prefix: Prefix): number {
    if (this.overlay === null) {
      const { start, end } = this.base.moreSpecifics(prefix);
      return end - start;
    }
    let count = 0;
    for (const _entry of this.moreSpecifics(prefix)) count++;
    return count;
  }

  /**
   * Share of the prefix's space that the entries strictly inside it hold, 0 to 1. Cost: a step for each of them that no other covers;
   * for a prefix that holds many, only the first time.
   */
  coveredShare(prefix: Prefix): number {
    const { start, end } = this.base.moreSpecifics(prefix);
    if (end - start < rememberedFrom) return this.#sumShares(prefix);
    const { version, w0, w1, w2, w3, length } = prefix;
    const key = [version, w0, w1, w2, w3, length].join();
    let share = this.#shares.get(key);
    if (share === undefined) {
      share = this.#sumShares(prefix);
      this.#shares.set(key, share);
    }
    return share;
  }

  #sumShares(prefix: Prefix): number {
    let share = 0;
    if (this.overlay === null) {
      const { base } = this;
      const { start, end } = base.moreSpecifics(prefix);
      for (let entry = start; entry < end; entry = base.end(entry)) share += 2 ** (prefix.length - base.lengthAt(entry));
      return share;
    }
    let last: Prefix | null = null;
    for (const entry of this.moreSpecifics(prefix)) {
      const inside = this.prefixAt(entry);
      if (last !== null && containsPrefix(last, inside)) continue;
      last = inside;
      share += 2 ** (prefix.length - inside.length);
    }
    return share;
  }

  prefixAt(entry: number): Prefix {
    return entry < this.base.size ? this.base.prefixAt(entry) : (this.overlay as PrefixTrie).prefixAt(entry - this.base.size);
  }

  lengthAt(entry: number): number {
    return entry < this.base.size ? this.base.lengthAt(entry) : (this.overlay as PrefixTrie).lengthAt(entry - this.base.size);
  }

  #visibleBase(entry: number): number {
    let at = entry;
    while (at >= 0 && this.#replaced?.[at] === 1) at = this.base.parent(at);
    return at;
  }

  #visibleOverlay(entry: number): number {
    let at = entry;
    while (at >= 0 && this.#removed[at] === 1) at = (this.overlay as PrefixTrie).parent(at);
    return at;
  }

  /** Both hold the same address, so the longer is the more specific; equal ones cannot be: the overlay's replaces the base's. */
  #deeper(base: number, over: number): number {
    if (over < 0) return base;
    const layered = this.base.size + over;
    return base >= 0 && this.lengthAt(base) > this.lengthAt(layered) ? base : layered;
  }

  #strictlyCovering(trie: PrefixTrie, prefix: Prefix): number {
    const entry = trie.covering(prefix);
    return entry >= 0 && trie.lengthAt(entry) === prefix.length ? trie.parent(entry) : entry;
  }
}

function before(a: Prefix, b: Prefix): boolean {
  if (a.version !== b.version) return a.version < b.version;
  if (a.w0 !== b.w0) return a.w0 < b.w0;
  if (a.w1 !== b.w1) return a.w1 < b.w1;
  if (a.w2 !== b.w2) return a.w2 < b.w2;
  if (a.w3 !== b.w3) return a.w3 < b.w3;
  return a.length < b.length;
}
