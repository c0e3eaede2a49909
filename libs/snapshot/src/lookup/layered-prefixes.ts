/** Base prefixes with an overlay of changes, read as one set. */

import type { Address, AddressList, Prefix } from "@netfacts/address";
import type { EntryRange, PrefixTrie } from "@netfacts/prefix-trie";

/** The share of a prefix that holds at least this many others is computed only once. */
const rememberedFrom = 4_096;

/**
 * Two tries read as one. An overlay entry replaces the base entry of the same prefix; `removed` marks overlay entries that withdraw it. Numbers of
 * entries: base entries keep theirs, overlay entries follow.
 *
 * Reads allocate nothing except the lists that they return and the shares that are kept. Immutable otherwise; safe from any thread.
 */
export class LayeredPrefixes {
  readonly base: PrefixTrie;
  readonly overlay: PrefixTrie | null;
  readonly #removed: Uint8Array;
  /** 1 for a base entry that the overlay replaces. */
  readonly #replaced: Uint8Array | null;
  /** The replaced base entries, ascending. */
  readonly #replacedEntries: Uint32Array;
  /** For each overlay entry, the number of base entries before its prefix. */
  readonly #baseBefore: Uint32Array;
  /** For each overlay entry, and for the end, the number of overlay entries before it that are not removed. */
  readonly #shownBefore: Uint32Array;
  /** Shares by prefix. Unbounded: few prefixes hold so many others that their share is kept. */
  readonly #shares = new Map<string, number>();

  /** `removed` has one byte per overlay entry: 1 = the prefix is withdrawn. */
  constructor(base: PrefixTrie, overlay: PrefixTrie | null = null, removed: Uint8Array = new Uint8Array(overlay?.size ?? 0)) {
    this.base = base;
    this.overlay = overlay === null || overlay.size === 0 ? null : overlay;
    this.#removed = removed;
    const size = this.overlay?.size ?? 0;
    this.#replaced = this.overlay === null ? null : new Uint8Array(base.size);
    this.#baseBefore = new Uint32Array(size);
    this.#shownBefore = new Uint32Array(size + 1);
    const replaced: number[] = [];
    for (let entry = 0; entry < size; entry++) {
      const prefix = (this.overlay as PrefixTrie).prefixAt(entry);
      const under = base.exact(prefix);
      if (under >= 0) {
        (this.#replaced as Uint8Array)[under] = 1;
        replaced.push(under);
      }
      this.#baseBefore[entry] = under >= 0 ? under : base.moreSpecifics(prefix).start;
      this.#shownBefore[entry + 1] = (this.#shownBefore[entry] as number) + (removed[entry] === 1 ? 0 : 1);
    }
    this.#replacedEntries = Uint32Array.from(replaced);
  }

  /** The most specific entry that holds the address, -1 when none does. */
  longest(address: Address): number {
    if (this.overlay === null) return this.base.longest(address);
    return this.#deeper(this.#visibleBase(this.base.longest(address)), this.#visibleOverlay(this.overlay.longest(address)));
  }

  /** `longest` of every address of a list, written to `entries`, which has the same length; costs less than single lookups. */
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

  /** Entries strictly inside the prefix, ascending by (address, length), without the first `skipped`; skipping costs one search in all. */
  *moreSpecifics(prefix: Prefix, skipped = 0): Generator<number> {
    const inBase = this.base.moreSpecifics(prefix);
    if (this.overlay === null) {
      for (let entry = inBase.start + skipped; entry < inBase.end; entry++) yield entry;
      return;
    }
    const inOverlay = this.overlay.moreSpecifics(prefix);
    let { base, over } = this.#skip(inBase, inOverlay, skipped);
    while (base < inBase.end || over < inOverlay.end) {
      if (base < inBase.end && this.#replaced?.[base] === 1) base++;
      else if (over < inOverlay.end && this.#removed[over] === 1) over++;
      else if (over >= inOverlay.end || base < (this.#baseBefore[over] as number)) yield base++;
      else yield this.base.size + over++;
    }
  }

  /** Positions in both ranges, read as one, after the first `skipped` entries. */
  #skip(inBase: EntryRange, inOverlay: EntryRange, skipped: number): { base: number; over: number } {
    const first = this.#visibleBaseBefore(inBase.start);
    /** Entries of both ranges that come before this overlay entry. */
    const rank = (over: number) =>
      this.#visibleBaseBefore(this.#baseBefore[over] as number) - first + this.#visibleOverlayIn(inOverlay.start, over);
    const next = firstIndex(inOverlay.start, inOverlay.end, (over) => rank(over) > skipped);
    if (next === inOverlay.start) return { base: this.#baseAt(first + skipped), over: next };
    const over = next - 1;
    const left = skipped - rank(over);
    const base = this.#baseBefore[over] as number;
    // The entries that remain to be skipped after this overlay entry are all in the base.
    return left === 0
      ? { base, over }
      : { base: this.#baseAt(this.#visibleBaseBefore(base) + left - this.#visibleOverlayIn(over, next)), over: next };
  }

  /** The number of base entries before this one that the overlay does not replace. */
  #visibleBaseBefore(entry: number): number {
    const entries = this.#replacedEntries;
    return entry - firstIndex(0, entries.length, (index) => (entries[index] as number) >= entry);
  }

  /** The base entry that has exactly `visible` entries before it that are not replaced. */
  #baseAt(visible: number): number {
    const entries = this.#replacedEntries;
    return visible + firstIndex(0, entries.length, (index) => (entries[index] as number) - index > visible);
  }

  #visibleOverlayIn(start: number, end: number): number {
    return (this.#shownBefore[end] as number) - (this.#shownBefore[start] as number);
  }

  /** The number of entries strictly inside the prefix. Costs a few searches. */
  countMoreSpecifics(prefix: Prefix): number {
    const { start, end } = this.base.moreSpecifics(prefix);
    if (this.overlay === null) return end - start;
    const inOverlay = this.overlay.moreSpecifics(prefix);
    return this.#visibleBaseBefore(end) - this.#visibleBaseBefore(start) + this.#visibleOverlayIn(inOverlay.start, inOverlay.end);
  }

  /**
   * Share of the prefix's space that the entries strictly inside it hold, 0 to 1. Cost: a step for each of them that no other covers; for a prefix
   * that holds many, only the first time.
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
    const inBase = this.base.moreSpecifics(prefix);
    let share = this.#baseShare(inBase, prefix.length);
    if (this.overlay === null) return share;
    const { start, end } = this.overlay.moreSpecifics(prefix);
    for (let over = start; over < end; ) {
      if (this.#removed[over] === 1) {
        over += 1;
        continue;
      }
      const inside = this.overlay.prefixAt(over);
      // Replaces what the base has inside this prefix, unless a base entry inside the range covers it.
      if (this.#visibleBase(this.base.covering(inside)) < inBase.start)
        share += 2 ** (prefix.length - inside.length) - this.#baseShare(this.base.moreSpecifics(inside), prefix.length);
      over = this.overlay.end(over);
    }
    return share;
  }

  /** Share of a prefix of this length that the base entries of a range hold, without replaced entries. */
  #baseShare({ start, end }: EntryRange, length: number): number {
    const { base } = this;
    let share = 0;
    for (let entry = start; entry < end; ) {
      const isReplaced = this.#replaced?.[entry] === 1;
      if (!isReplaced) share += 2 ** (length - base.lengthAt(entry));
      entry = isReplaced ? entry + 1 : base.end(entry);
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

  /** Both hold the same address, so the longer one is more specific. They cannot be equal: the overlay entry would have replaced the base entry. */
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

/** The first index from `start` on for which `isOne` holds; it must hold for all later ones too. `end` if there is none. */
function firstIndex(start: number, end: number, isOne: (index: number) => boolean): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isOne(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
