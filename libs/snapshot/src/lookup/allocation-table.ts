/** The records of the registries, found by address, prefix and AS number. */

import { type Address, compareAddresses, firstAddress, lastAddress, type Prefix } from "@netfacts/address";
import type { PrefixTrie } from "@netfacts/prefix-trie";
import { countryText } from "../country-code.ts";
import { type AllocationStatus, type AllocationsColumns, noHolder, type Registry, registries, statuses } from "../sections/allocations.ts";
import { stringAt } from "../strings.ts";

/** A registry's record of a block of addresses. */
export interface AllocationEntry {
  readonly registry: Registry;
  readonly status: AllocationStatus;
  /** Two letters as published (`EU` and `AP` too); null: not given. */
  readonly country: string | null;
  /** Inclusive bounds as published. */
  readonly start: Address;
  readonly end: Address;
  /** `YYYY-MM-DD`; null: not given. */
  readonly date: string | null;
  /** Index of the holder; null: the file does not give one. */
  readonly holder: number | null;
}

/** A registry's record of an AS number. */
export interface AsnEntry extends Omit<AllocationEntry, "start" | "end"> {}

/** The records that share an opaque id within one file. */
export interface Holder {
  readonly id: string;
  /** AS numbers, ascending. */
  readonly asns: Uint32Array;
  /** Records of addresses, in address order. */
  readonly records: Uint32Array;
}

/** How a prefix relates to the blocks of the registries. */
export type AllocationRelation = "equal" | "within" | "contains" | "crosses" | "none";

/** Record numbers of a relation, which can be read in part: a short prefix touches hundreds of thousands of them. */
export interface RelatedRecords {
  readonly length: number;
  /** As `Array.prototype.slice`. */
  slice(start: number, end: number): number[];
}

/** Immutable; safe from any thread. Record numbers are valid for this table only. */
export class AllocationTable {
  readonly #columns: AllocationsColumns;
  readonly #trie: PrefixTrie;

  constructor(columns: AllocationsColumns, trie: PrefixTrie) {
    this.#columns = columns;
    this.#trie = trie;
  }

  /** Number of address records: they are numbered 0 to size − 1, in address order. */
  get size(): number {
    return this.#columns.registry.length;
  }

  /** The most specific CIDR of any record that holds the address, usable as a cache key; -1 when none does. */
  cidr(address: Address): number {
    return this.#trie.longest(address);
  }

  /** Whether a CIDR of any record lies strictly inside the prefix. */
  hasInside(prefix: Prefix): boolean {
    const { start, end } = this.#trie.moreSpecifics(prefix);
    return end > start;
  }

  /** Every record that holds the address, the winner first; empty when none does. */
  recordsAt(address: Address): number[] {
    return this.#recordsUp(this.#trie.longest(address));
  }

  /**
   * Records that the prefix equals, lies in, contains or crosses. Equal and within: one record wins for every address of the prefix, and the result
   * has the records that hold the whole of it, the winner first. Contains and crosses: the result has all records that touch the prefix, in address
   * order; those that hold the whole of it come last, the one that wins over the others first.
   *
   * Cost: a few searches, however many records the prefix touches. If a record holds the whole prefix, also a step for each CIDR inside it.
   */
  relation(prefix: Prefix): { relation: AllocationRelation; records: RelatedRecords } {
    const around = this.#recordsUp(this.#trie.covering(prefix));
    const first = firstAddress(prefix);
    const last = lastAddress(prefix);
    const winner = around[0];
    if (winner !== undefined && !this.#losesInside(winner, prefix)) {
      const { start, end } = this.#range(winner);
      const equal = compareAddresses(start, first) === 0 && compareAddresses(end, last) === 0;
      return { relation: equal ? "equal" : "within", records: around };
    }
    // Records that touch the prefix begin in it, or begin before it and reach into it.
    const from = this.#countBelow(first, "before");
    const to = this.#countBelow(last, "at or before");
    const before = this.recordsAt(first).filter((record) => record < from);
    if (before.length === 0 && from === to) return { relation: "none", records: [] };
    const after = this.recordsAt(last).some((record) => compareAddresses(this.#range(record).end, last) > 0);
    return { relation: before.length > 0 || after ? "crosses" : "contains", records: touching(before, from, to, around) };
  }

  /** Whether a record that holds the whole prefix loses some of it to a record that holds only a part. */
  #losesInside(winner: number, prefix: Prefix): boolean {
    const { cidr_start, cidr_record, rank } = this.#columns;
    const { start, end } = this.#trie.moreSpecifics(prefix);
    // A record that holds the whole prefix has no CIDR inside it.
    for (let at = cidr_start[start] as number; at < (cidr_start[end] as number); at++)
      if ((rank[cidr_record[at] as number] as number) < (rank[winner] as number)) return true;
    return false;
  }

  /**
   * The number of the first record that does not begin before the address ("before"), or at or before it ("at or before"). Records of the other
   * family are not counted.
   */
  #countBelow(address: Address, which: "before" | "at or before"): number {
    const ipv4 = this.#columns.ipv4_records[0] as number;
    const bound = which === "before" ? 0 : 1;
    let [low, high] = address.version === 4 ? [0, ipv4] : [ipv4, this.size];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareAddresses(this.#range(middle).start, address) < bound) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #range(record: number): { start: Address; end: Address } {
    const columns = this.#columns;
    const version = record < (columns.ipv4_records[0] as number) ? 4 : 6;
    return { start: addressAt(columns.record_start, record, version), end: addressAt(columns.record_end, record, version) };
  }

  entry(record: number): AllocationEntry {
    const columns = this.#columns;
    const holder = columns.holder[record] as number;
    return {
      ...this.#range(record),
      registry: registries[columns.registry[record] as number] as Registry,
      status: statuses[columns.status[record] as number] as AllocationStatus,
      country: countryText(columns.country[record] as number),
      date: dateText(columns.date[record] as number),
      holder: holder === noHolder ? null : holder,
    };
  }

  /** The registry's record of an AS number; null: there is none. */
  asn(asn: number): AsnEntry | null {
    const columns = this.#columns;
    let low = 0;
    let high = columns.as_first.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      if ((columns.as_first[middle] as number) > asn) high = middle - 1;
      else if ((columns.as_last[middle] as number) < asn) low = middle + 1;
      else return this.#asnEntry(middle);
    }
    return null;
  }

  /** Every run of AS numbers with the same winning record, ascending. */
  *asnRuns(): Generator<AsnEntry & { readonly first: number; readonly last: number }> {
    const { as_first, as_last } = this.#columns;
    for (let run = 0; run < as_first.length; run++)
      yield { first: as_first[run] as number, last: as_last[run] as number, ...this.#asnEntry(run) };
  }

  #asnEntry(run: number): AsnEntry {
    const columns = this.#columns;
    const holder = columns.as_holder[run] as number;
    return {
      registry: registries[columns.as_registry[run] as number] as Registry,
      status: statuses[columns.as_status[run] as number] as AllocationStatus,
      country: countryText(columns.as_country[run] as number),
      date: dateText(columns.as_date[run] as number),
      holder: holder === noHolder ? null : holder,
    };
  }

  holder(index: number): Holder {
    const columns = this.#columns;
    return {
      id: stringAt({ start: columns.holder_id_start, bytes: columns.holder_id_bytes }, index),
      asns: columns.holder_as.subarray(columns.holder_as_start[index] as number, columns.holder_as_start[index + 1] as number),
      records: columns.holder_record.subarray(
        columns.holder_record_start[index] as number,
        columns.holder_record_start[index + 1] as number,
      ),
    };
  }

  /**
   * Whether two holders are the same; null if they are of two files, whose ids cannot be compared. Snapshots of earlier writers do not tell the files
   * of holders: all are then of one file.
   */
  isSameHolder(a: number, b: number): boolean | null {
    const { holder_file } = this.#columns;
    return holder_file[a] === holder_file[b] ? a === b : null;
  }

  #recordsOf(cidr: number): Uint32Array {
    const columns = this.#columns;
    return columns.cidr_record.subarray(columns.cidr_start[cidr] as number, columns.cidr_start[cidr + 1] as number);
  }

  #recordsUp(cidr: number): number[] {
    const found: number[] = [];
    for (let at = cidr; at >= 0; at = this.#trie.parent(at))
      for (const record of this.#recordsOf(at)) if (!found.includes(record)) found.push(record);
    const { rank } = this.#columns;
    return found.length < 2 ? found : found.sort((a, b) => (rank[a] as number) - (rank[b] as number));
  }
}

/** The numbers `before` in ascending order, then those from `from` to `to - 1`, except for those `around`, which come last. */
function touching(before: readonly number[], from: number, to: number, around: readonly number[]): RelatedRecords {
  const ahead = before.filter((record) => !around.includes(record)).sort(ascending);
  // These are consecutive: of the records that begin with the prefix, those that reach to its end or beyond.
  const skipped = around.filter((record) => record >= from);
  const skippedFrom = Math.min(to, ...skipped);
  const inside = ahead.length + to - from - skipped.length;
  const length = inside + around.length;
  const at = (place: number): number => {
    if (place >= inside) return around[place - inside] as number;
    const record = from + place - ahead.length;
    return ahead[place] ?? (record < skippedFrom ? record : record + skipped.length);
  };
  return {
    length,
    slice: (start, end) => Array.from({ length: Math.max(0, Math.min(end, length) - start) }, (_, index) => at(start + index)),
  };
}

function ascending(a: number, b: number): number {
  return a - b;
}

function addressAt(words: Uint32Array, record: number, version: 4 | 6): Address {
  const at = record * 4;
  return { version, w0: words[at] as number, w1: words[at + 1] as number, w2: words[at + 2] as number, w3: words[at + 3] as number };
}

function dateText(date: number): string | null {
  if (date === 0) return null;
  const text = String(date);
  return `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6)}`;
}
