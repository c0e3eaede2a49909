/** Builds section `allocations`: the records of registries by CIDR, by AS number and by holder, and which of overlapping records wins. */

import { type Address, compareAddresses, type Prefix, rangeToPrefixes } from "@netfacts/address";
import {
  type AllocationsColumns,
  GrowableUint8,
  GrowableUint32,
  noHolder,
  packCountry,
  packStrings,
  registries,
  statuses,
} from "@netfacts/snapshot";
import type { DelegationRecord } from "../readers/delegated.ts";

/** The records of one file. An opaque id joins records of one file and registry only. */
export interface DelegatedFile {
  readonly records: readonly DelegationRecord[];
  /** Unix seconds of the end date in the header; null: unknown. */
  readonly asOf: number | null;
}

type AddressRecord = Extract<DelegationRecord, { kind: "ipv4" | "ipv6" }>;
type AsnRecord = Extract<DelegationRecord, { kind: "asn" }>;

/** A record with its origin. */
interface Sourced<R extends DelegationRecord> {
  readonly record: R;
  readonly file: number;
  readonly asOf: number;
  readonly holder: number;
}

interface Block extends Sourced<AddressRecord> {
  /** Holders of its copies, which are left out, and its own. */
  holders?: Set<number>;
}

/** Most AS numbers of one range that are listed for its holder; the widest real range has 1,024. */
const rangeAsnsMax = 4096;

export interface BuiltAllocations {
  readonly columns: AllocationsColumns;
  /** Of the records as the files have them, with copies. */
  readonly counts: { readonly ipv4: number; readonly ipv6: number; readonly asn: number; readonly holders: number };
  /** Number of AS number runs that differing records claim. */
  readonly asnConflicts: number;
}

export function buildAllocations(files: readonly DelegatedFile[]): BuiltAllocations {
  const holders = new Holders();
  const blocks: Block[] = [];
  const asns: Sourced<AsnRecord>[] = [];
  files.forEach(({ records, asOf }, file) => {
    for (const record of records) {
      // The combined file gives records that nobody holds an id too: that of IANA's or the registry's pool.
      const holder = record.opaqueId === null || !isHeld(record) ? noHolder : holders.number(file, record.registry, record.opaqueId);
      if (record.kind === "asn") asns.push({ record, file, asOf: asOf ?? 0, holder });
      else blocks.push({ record, file, asOf: asOf ?? 0, holder });
    }
  });
  const addresses = withoutCopies(blocks.sort((a, b) => compareRanges(a.record, b.record) || a.file - b.file));
  const runs = winningRuns(asns);
  const columns = { ...addressColumns(addresses), ...asnColumns(runs), ...holders.columns(addresses, asns) };
  return {
    columns,
    counts: {
      ipv4: blocks.filter(({ record }) => record.kind === "ipv4").length,
      ipv6: blocks.filter(({ record }) => record.kind === "ipv6").length,
      asn: asns.length,
      holders: holders.size,
    },
    asnConflicts: runs.conflicts,
  };
}

function compareRanges(a: AddressRecord, b: AddressRecord): number {
  return compareAddresses(a.start, b.start) || compareAddresses(a.end, b.end);
}

/** The combined file and that of a registry have the same blocks: of equal ones the one that wins stays. @param sorted  by range, then by file */
function withoutCopies(sorted: readonly Block[]): Block[] {
  const kept: Block[] = [];
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    const first = sorted[from] as Block;
    do to++;
    while (to < sorted.length && compareRanges(first.record, (sorted[to] as Block).record) === 0);
    if (to === from + 1) kept.push(first);
    else for (const block of distinct(sorted.slice(from, to))) kept.push(block);
  }
  return kept;
}

function distinct(sameRange: readonly Block[]): Iterable<Block> {
  const winners = new Map<string, Block>();
  const holders = new Map<string, Set<number>>();
  for (const block of sameRange) {
    const { registry, status, country, date, opaqueId } = block.record;
    const text = JSON.stringify([registry, status, country, date, isHeld(block.record) ? opaqueId : null]);
    const other = winners.get(text);
    block.holders = holders.get(text)?.add(block.holder) ?? new Set([block.holder]);
    holders.set(text, block.holders);
    if (other === undefined || block.asOf > other.asOf) winners.set(text, block);
  }
  const kept = new Set(winners.values());
  return sameRange.filter((block) => kept.has(block));
}

/** Opaque ids, numbered per file and registry: in a combined file, equal ids of different registries are unrelated. */
class Holders {
  readonly #numbers = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #files: number[] = [];

  get size(): number {
    return this.#ids.length;
  }

  number(file: number, registry: DelegationRecord["registry"], id: string): number {
    const key = `${file} ${registry} ${id}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#ids.push(id) - 1;
      this.#files.push(file);
      this.#numbers.set(key, number);
    }
    return number;
  }

  columns(addresses: readonly Block[], asns: readonly Sourced<AsnRecord>[]) {
    const ids = packStrings(this.#ids);
    const numbers: number[][] = this.#ids.map(() => []);
    const records: number[][] = this.#ids.map(() => []);
    for (const { record, holder } of asns)
      if (holder !== noHolder)
        for (let asn = record.start; asn <= Math.min(record.end, record.start + rangeAsnsMax - 1); asn++) numbers[holder]?.push(asn);
    addresses.forEach(({ holder, holders = [holder] }, index) => {
      for (const one of holders) if (one !== noHolder) records[one]?.push(index);
    });
    // Records of one holder can overlap.
    const distinct = numbers.map((list) => [...new Set(list)].sort((a, b) => a - b));
    return {
      holder_id_start: ids.start,
      holder_id_bytes: ids.bytes,
      holder_as_start: runStarts(distinct),
      holder_as: Uint32Array.from(distinct.flat()),
      holder_record_start: runStarts(records),
      holder_record: Uint32Array.from(records.flat()),
      holder_file: Uint32Array.from(this.#files),
    };
  }
}

function runStarts(lists: readonly (readonly unknown[])[]): Uint32Array {
  const start = new Uint32Array(lists.length + 1);
  lists.forEach((list, index) => {
    start[index + 1] = (start[index] as number) + list.length;
  });
  return start;
}

/** CIDRs of one family in columns, each with its record: as objects they would take many times the memory. */
class CidrColumns {
  readonly words = new GrowableUint32();
  readonly length = new GrowableUint8();
  readonly record = new GrowableUint32();
  readonly #size: 1 | 4;

  constructor(wordsPerPrefix: 1 | 4) {
    this.#size = wordsPerPrefix;
  }

  push({ w0, w1, w2, w3, length }: Prefix, record: number): void {
    this.words.push(w0);
    if (this.#size === 4) for (const word of [w1, w2, w3]) this.words.push(word);
    this.length.push(length);
    this.record.push(record);
  }

  /** The distinct CIDRs in ascending order, the start of each one's records, and the records in the order in which they were pushed. */
  sorted(): { words: Uint32Array; length: Uint8Array; start: number[]; record: Uint32Array } {
    const size = this.#size;
    const order = Uint32Array.from(this.length.view(), (_, index) => index).sort((a, b) => this.#compare(a, b) || a - b);
    const start: number[] = [];
    const words = new GrowableUint32();
    const length = new GrowableUint8();
    for (let at = 0; at < order.length; at++) {
      const cidr = order[at] as number;
      if (at > 0 && this.#compare(order[at - 1] as number, cidr) === 0) continue;
      start.push(at);
      for (let word = 0; word < size; word++) words.push(this.words.at(cidr * size + word));
      length.push(this.length.at(cidr));
    }
    return { words: words.view(), length: length.view(), start, record: order.map((cidr) => this.record.at(cidr)) };
  }

  #compare(a: number, b: number): number {
    const size = this.#size;
    for (let word = 0; word < size; word++) {
      const difference = this.words.at(a * size + word) - this.words.at(b * size + word);
      if (difference !== 0) return difference;
    }
    return this.length.at(a) - this.length.at(b);
  }
}

function addressColumns(addresses: readonly Sourced<AddressRecord>[]) {
  const size = addresses.length;
  const starts = new Uint32Array(size * 4);
  const ends = new Uint32Array(size * 4);
  const ipv4 = new CidrColumns(1);
  const ipv6 = new CidrColumns(4);
  for (const [index, { record }] of addresses.entries()) {
    starts.set(words(record.start), index * 4);
    ends.set(words(record.end), index * 4);
    const cidrs = record.kind === "ipv4" ? ipv4 : ipv6;
    for (const cidr of rangeToPrefixes(record.start, record.end)) cidrs.push(cidr, index);
  }
  const v4 = ipv4.sorted();
  const v6 = ipv6.sorted();
  const cidrRecord = new Uint32Array(v4.record.length + v6.record.length);
  cidrRecord.set(v4.record);
  cidrRecord.set(v6.record, v4.record.length);
  return {
    v4_address: v4.words,
    v4_length: v4.length,
    v6_words: v6.words,
    v6_length: v6.length,
    cidr_start: Uint32Array.from([...v4.start, ...v6.start.map((at) => v4.record.length + at), cidrRecord.length]),
    cidr_record: cidrRecord,
    ipv4_records: Uint32Array.of(addresses.filter(({ record }) => record.kind === "ipv4").length),
    record_start: starts,
    record_end: ends,
    registry: Uint8Array.from(addresses, ({ record }) => registries.indexOf(record.registry)),
    status: Uint8Array.from(addresses, ({ record }) => statuses.indexOf(record.status)),
    country: Uint16Array.from(addresses, ({ record }) => packCountry(record.country)),
    date: Uint32Array.from(addresses, ({ record }) => record.date ?? 0),
    holder: Uint32Array.from(addresses, ({ holder }) => holder),
    rank: ranks(addresses),
  };
}

/** Rank of each record by precedence; 0 wins. */
function ranks(addresses: readonly Sourced<AddressRecord>[]): Uint32Array {
  const sizes = addresses.map(({ record }) => rangeSize(record.start, record.end));
  const order = Uint32Array.from(addresses, (_, index) => index).sort((a, b) => {
    const [x, y] = [addresses[a], addresses[b]] as [Sourced<AddressRecord>, Sourced<AddressRecord>];
    return precedence(x, y, (sizes[a] as number) - (sizes[b] as number)) || a - b;
  });
  const rank = new Uint32Array(order.length);
  order.forEach((record, place) => {
    rank[record] = place;
  });
  return rank;
}

/**
 * Which of overlapping records wins (docs/design/semantics.md#registration): allocated or assigned before reserved or available; then the newer file;
 * the narrower range; the later date; the registry's name; the record that names a holder. Negative: the first record wins. Of equal ones the first
 * in the order of ranges, files and records wins.
 */
function precedence(a: Sourced<DelegationRecord>, b: Sourced<DelegationRecord>, sizeDifference: number): number {
  return (
    Number(!isHeld(a.record)) - Number(!isHeld(b.record)) ||
    b.asOf - a.asOf ||
    sizeDifference ||
    (b.record.date ?? 0) - (a.record.date ?? 0) ||
    (a.record.registry < b.record.registry ? -1 : Number(a.record.registry > b.record.registry)) ||
    Number(a.record.opaqueId === null) - Number(b.record.opaqueId === null)
  );
}

function isHeld({ status }: DelegationRecord): boolean {
  return status === "allocated" || status === "assigned";
}

/** Number of addresses as a floating-point number: exact enough to find the narrower range. */
function rangeSize(start: Address, end: Address): number {
  if (start.version === 4) return end.w0 - start.w0;
  return (end.w0 - start.w0) * 2 ** 96 + (end.w1 - start.w1) * 2 ** 64 + (end.w2 - start.w2) * 2 ** 32 + (end.w3 - start.w3);
}

function words({ w0, w1, w2, w3 }: Address): number[] {
  return [w0, w1, w2, w3];
}

interface AsnRun {
  first: number;
  last: number;
  readonly winner: Sourced<AsnRecord>;
}

/** AS numbers with the same records; the first record wins. */
interface ClaimedRun {
  readonly first: number;
  readonly last: number;
  readonly claims: readonly Sourced<AsnRecord>[];
}

/**
 * Each delegated AS number in ascending order, with its records, of which the first one wins. A record that covers more than 4,096 numbers is cut off
 * after these.
 */
export function* asnClaims(
  files: readonly DelegatedFile[],
): Generator<{ asn: number; claims: readonly Pick<Sourced<AsnRecord>, "file" | "record">[] }, void> {
  const asns = files.flatMap(({ records, asOf }, file) =>
    records.flatMap((record) => (record.kind === "asn" ? [{ record, file, asOf: asOf ?? 0, holder: noHolder }] : [])),
  );
  for (const { first, last, claims } of claimedRuns(asns)) {
    const [winner] = claims;
    if (winner === undefined || !isHeld(winner.record)) continue;
    for (let asn = first; asn <= Math.min(last, winner.record.start + rangeAsnsMax - 1); asn++) yield { asn, claims };
  }
}

/** Cuts AS numbers into runs that each have one winning record. */
function winningRuns(asns: readonly Sourced<AsnRecord>[]): { runs: AsnRun[]; conflicts: number } {
  const runs: AsnRun[] = [];
  let conflicts = 0;
  for (const { first, last, claims } of claimedRuns(asns)) {
    const [winner] = claims;
    if (winner === undefined) continue;
    if (claims.some(({ record }) => differs(record, winner.record))) conflicts++;
    const before = runs.at(-1);
    if (before?.winner === winner && before.last === first - 1) before.last = last;
    else runs.push({ first, last, winner });
  }
  return { runs, conflicts };
}

/** In ascending order. A list is valid only until the next run. Cost: a sort, and a step per bound and record that is open there. */
function* claimedRuns(asns: readonly Sourced<AsnRecord>[]): Generator<ClaimedRun, void> {
  const sorted = [...asns].sort((a, b) => a.record.start - b.record.start || a.record.end - b.record.end || a.file - b.file);
  const bounds = Float64Array.from(new Set(sorted.flatMap(({ record }) => [record.start, record.end + 1]))).sort();
  let next = 0;
  let open: Sourced<AsnRecord>[] = [];
  for (let index = 0; index + 1 < bounds.length; index++) {
    const [first, last] = [bounds[index] as number, (bounds[index + 1] as number) - 1];
    if (open.some(({ record }) => record.end < first)) open = open.filter(({ record }) => record.end >= first);
    for (; next < sorted.length && sorted[next]?.record.start === first; next++) open.push(sorted[next] as Sourced<AsnRecord>);
    if (open.length > 1) open.sort((a, b) => precedence(a, b, a.record.end - a.record.start - (b.record.end - b.record.start)));
    yield { first, last, claims: open };
  }
}

/** Whether two records of AS numbers differ. */
function differs(a: AsnRecord, b: AsnRecord): boolean {
  return (["start", "end", "registry", "country", "date", "status"] as const).some((member) => a[member] !== b[member]);
}

function asnColumns({ runs }: { runs: readonly AsnRun[] }) {
  return {
    as_first: Uint32Array.from(runs, ({ first }) => first),
    as_last: Uint32Array.from(runs, ({ last }) => last),
    as_registry: Uint8Array.from(runs, ({ winner }) => registries.indexOf(winner.record.registry)),
    as_status: Uint8Array.from(runs, ({ winner }) => statuses.indexOf(winner.record.status)),
    as_country: Uint16Array.from(runs, ({ winner }) => packCountry(winner.record.country)),
    as_date: Uint32Array.from(runs, ({ winner }) => winner.record.date ?? 0),
    as_holder: Uint32Array.from(runs, ({ winner }) => winner.holder),
  };
}
