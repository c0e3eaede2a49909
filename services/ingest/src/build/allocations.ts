/** Builds section `allocations`: the registries' records by CIDR, by AS number and by holder, with who wins where they overlap. */

import { type Address, compareAddresses, comparePrefixes, type Prefix, rangeToPrefixes } from "@netfacts/address";
import { type AllocationsColumns, noHolder, packStrings, registries, statuses } from "@netfacts/dataset";
import { sortPrefixes } from "@netfacts/prefix-trie";
import type { DelegationRecord } from "../readers/delegated.ts";

/** The records of one file. An opaque id joins records of one file only. */
export interface DelegatedFile {
  readonly records: readonly DelegationRecord[];
  /** Unix seconds of the header's end date; null where it tells none. */
  readonly asOf: number | null;
}

type AddressRecord = Extract<DelegationRecord, { kind: "ipv4" | "ipv6" }>;
type AsnRecord = Extract<DelegationRecord, { kind: "asn" }>;

/** A record with where it came from. */
interface Sourced<R extends DelegationRecord> {
  readonly record: R;
  readonly file: number;
  readonly asOf: number;
  readonly holder: number;
}

/** AS numbers of one range that are listed under its holder: the widest real range has 1,024. */
const rangeAsnsMax = 4096;

export interface BuiltAllocations {
  readonly columns: AllocationsColumns;
  readonly counts: { readonly ipv4: number; readonly ipv6: number; readonly asn: number; readonly holders: number };
  /** AS number runs that several records claim. */
  readonly asnConflicts: number;
}

export function buildAllocations(files: readonly DelegatedFile[]): BuiltAllocations {
  const holders = new Holders();
  const addresses: Sourced<AddressRecord>[] = [];
  const asns: Sourced<AsnRecord>[] = [];
  files.forEach(({ records, asOf }, file) => {
    for (const record of records) {
      const holder = record.opaqueId === null ? noHolder : holders.number(file, record.opaqueId);
      if (record.kind === "asn") asns.push({ record, file, asOf: asOf ?? 0, holder });
      else addresses.push({ record, file, asOf: asOf ?? 0, holder });
    }
  });
  addresses.sort((a, b) => compareRanges(a.record, b.record) || a.file - b.file);
  const runs = winningRuns(asns);
  const columns = { ...addressColumns(addresses), ...asnColumns(runs), ...holders.columns(addresses, asns) };
  return {
    columns,
    counts: {
      ipv4: columns.ipv4_records[0] as number,
      ipv6: addresses.length - (columns.ipv4_records[0] as number),
      asn: asns.length,
      holders: holders.size,
    },
    asnConflicts: runs.conflicts,
  };
}

function compareRanges(a: AddressRecord, b: AddressRecord): number {
  return compareAddresses(a.start, b.start) || compareAddresses(a.end, b.end);
}

/** Opaque ids, numbered per file. */
class Holders {
  readonly #numbers: Map<string, number>[] = [];
  readonly #ids: string[] = [];

  get size(): number {
    return this.#ids.length;
  }

  number(file: number, id: string): number {
    this.#numbers[file] ??= new Map();
    const numbers = this.#numbers[file];
    let number = numbers.get(id);
    if (number === undefined) {
      number = this.#ids.push(id) - 1;
      numbers.set(id, number);
    }
    return number;
  }

  columns(addresses: readonly Sourced<AddressRecord>[], asns: readonly Sourced<AsnRecord>[]) {
    const ids = packStrings(this.#ids);
    const numbers: number[][] = this.#ids.map(() => []);
    const records: number[][] = this.#ids.map(() => []);
    for (const { record, holder } of asns)
      if (holder !== noHolder && isHeld(record))
        for (let asn = record.start; asn <= Math.min(record.end, record.start + rangeAsnsMax - 1); asn++) numbers[holder]?.push(asn);
    addresses.forEach(({ holder }, index) => {
      if (holder !== noHolder) records[holder]?.push(index);
    });
    for (const list of numbers) list.sort((a, b) => a - b);
    return {
      holder_id_start: ids.start,
      holder_id_bytes: ids.bytes,
      holder_as_start: runStarts(numbers),
      holder_as: Uint32Array.from(numbers.flat()),
      holder_record_start: runStarts(records),
      holder_record: Uint32Array.from(records.flat()),
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

function addressColumns(addresses: readonly Sourced<AddressRecord>[]) {
  const size = addresses.length;
  const starts = new Uint32Array(size * 4);
  const ends = new Uint32Array(size * 4);
  const cidrs: Prefix[] = [];
  const owners: number[] = [];
  addresses.forEach(({ record }, index) => {
    starts.set(words(record.start), index * 4);
    ends.set(words(record.end), index * 4);
    for (const cidr of rangeToPrefixes(record.start, record.end)) {
      cidrs.push(cidr);
      owners.push(index);
    }
  });
  const order = Array.from(cidrs.keys()).sort((a, b) => comparePrefixes(cidrs[a] as Prefix, cidrs[b] as Prefix) || a - b);
  const start: number[] = [];
  const record = new Uint32Array(order.length);
  order.forEach((cidr, at) => {
    const before = order[at - 1];
    if (before === undefined || comparePrefixes(cidrs[before] as Prefix, cidrs[cidr] as Prefix) !== 0) start.push(at);
    record[at] = owners[cidr] as number;
  });
  start.push(order.length);
  const sorted = sortPrefixes(cidrs).columns;
  return {
    v4_address: sorted.ipv4.address,
    v4_length: sorted.ipv4.length,
    v6_words: sorted.ipv6.words,
    v6_length: sorted.ipv6.length,
    cidr_start: Uint32Array.from(start),
    cidr_record: record,
    ipv4_records: Uint32Array.of(addresses.filter(({ record }) => record.kind === "ipv4").length),
    record_start: starts,
    record_end: ends,
    registry: Uint8Array.from(addresses, ({ record }) => registries.indexOf(record.registry)),
    status: Uint8Array.from(addresses, ({ record }) => statuses.indexOf(record.status)),
    country: Uint16Array.from(addresses, ({ record }) => countryCode(record.country)),
    date: Uint32Array.from(addresses, ({ record }) => record.date ?? 0),
    holder: Uint32Array.from(addresses, ({ holder }) => holder),
    rank: ranks(addresses),
  };
}

/** Place of each record in the order of precedence; 0 wins. */
function ranks(addresses: readonly Sourced<AddressRecord>[]): Uint32Array {
  const sizes = addresses.map(({ record }) => rangeSize(record.start, record.end));
  const order = Array.from(addresses.keys()).sort((a, b) => {
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
 * Who wins where records overlap (SEMANTICS, Registration): allocated or assigned before reserved or available; the newer
 * file; the narrower range; the later date; the registry's name. Negative: the first does.
 */
function precedence(a: Sourced<DelegationRecord>, b: Sourced<DelegationRecord>, sizeDifference: number): number {
  return (
    Number(!isHeld(a.record)) - Number(!isHeld(b.record)) ||
    b.asOf - a.asOf ||
    sizeDifference ||
    (b.record.date ?? 0) - (a.record.date ?? 0) ||
    (a.record.registry < b.record.registry ? -1 : Number(a.record.registry > b.record.registry))
  );
}

function isHeld({ status }: DelegationRecord): boolean {
  return status === "allocated" || status === "assigned";
}

/** Addresses of a range as a floating-point number: enough to tell the narrower. */
function rangeSize(start: Address, end: Address): number {
  if (start.version === 4) return end.w0 - start.w0;
  return (end.w0 - start.w0) * 2 ** 96 + (end.w1 - start.w1) * 2 ** 64 + (end.w2 - start.w2) * 2 ** 32 + (end.w3 - start.w3);
}

function words({ w0, w1, w2, w3 }: Address): number[] {
  return [w0, w1, w2, w3];
}

function countryCode(country: string | null): number {
  return country === null ? 0 : (country.charCodeAt(0) << 8) | country.charCodeAt(1);
}

interface AsnRun {
  first: number;
  last: number;
  readonly winner: Sourced<AsnRecord>;
}

/** Cuts AS numbers into runs that each have one winning record. Cost: a sort, and a step per bound and record open at it. */
function winningRuns(asns: readonly Sourced<AsnRecord>[]): { runs: AsnRun[]; conflicts: number } {
  const sorted = [...asns].sort((a, b) => a.record.start - b.record.start || a.record.end - b.record.end || a.file - b.file);
  const bounds = Float64Array.from(new Set(sorted.flatMap(({ record }) => [record.start, record.end + 1]))).sort();
  const runs: AsnRun[] = [];
  let conflicts = 0;
  let next = 0;
  let open: Sourced<AsnRecord>[] = [];
  for (let index = 0; index + 1 < bounds.length; index++) {
    const [first, last] = [bounds[index] as number, (bounds[index + 1] as number) - 1];
    if (open.some(({ record }) => record.end < first)) open = open.filter(({ record }) => record.end >= first);
    for (; next < sorted.length && sorted[next]?.record.start === first; next++) open.push(sorted[next] as Sourced<AsnRecord>);
    if (open.length > 1) {
      conflicts++;
      open.sort((a, b) => precedence(a, b, a.record.end - a.record.start - (b.record.end - b.record.start)));
    }
    const [winner] = open;
    if (winner === undefined) continue;
    const before = runs.at(-1);
    if (before?.winner === winner && before.last === first - 1) before.last = last;
    else runs.push({ first, last, winner });
  }
  return { runs, conflicts };
}

function asnColumns({ runs }: { runs: readonly AsnRun[] }) {
  return {
    as_first: Uint32Array.from(runs, ({ first }) => first),
    as_last: Uint32Array.from(runs, ({ last }) => last),
    as_registry: Uint8Array.from(runs, ({ winner }) => registries.indexOf(winner.record.registry)),
    as_status: Uint8Array.from(runs, ({ winner }) => statuses.indexOf(winner.record.status)),
    as_country: Uint16Array.from(runs, ({ winner }) => countryCode(winner.record.country)),
    as_date: Uint32Array.from(runs, ({ winner }) => winner.record.date ?? 0),
    as_holder: Uint32Array.from(runs, ({ winner }) => winner.holder),
  };
}
