/** Section `allocations`: the records of the registries for addresses and AS numbers, as published. */

import type { PrefixColumns } from "@netfacts/prefix-trie";
import { type Columns, checkBelow, checkLengths, checkRuns, type SectionFormat, SectionFormatError } from "../columns.ts";
import { checkCountries } from "../country-code.ts";

/** Registries by code; the format fixes the order. */
export const registries = ["afrinic", "apnic", "arin", "lacnic", "ripencc", "iana"] as const;
export type Registry = (typeof registries)[number];

/** Statuses by code; the format fixes the order. */
export const statuses = ["allocated", "assigned", "reserved", "available"] as const;
export type AllocationStatus = (typeof statuses)[number];

/** Value for "no holder". */
export const noHolder = 0xffff_ffff;

const columns = {
  /** CIDRs that the records consist of, in preorder, and for each CIDR a run of the records that it belongs to. */
  v4_address: "u32",
  v4_length: "u8",
  v6_words: "u32",
  v6_length: "u8",
  cidr_start: "u32",
  cidr_record: "u32",
  /** Records of addresses: IPv4 first, then IPv6; four words each for start and end (inclusive; IPv4 in the first). */
  ipv4_records: "u32",
  record_start: "u32",
  record_end: "u32",
  registry: "u8",
  status: "u8",
  /** Two letters, high byte first; 0 = not given. */
  country: "u16",
  /** year × 10,000 + month × 100 + day; 0 = not given. */
  date: "u32",
  holder: "u32",
  /** If overlapping records claim an address, the lowest rank wins (docs/design/semantics.md#registration). */
  rank: "u32",
  /** Ascending runs of AS numbers that do not overlap, with the winning record of each. */
  as_first: "u32",
  as_last: "u32",
  as_registry: "u8",
  as_status: "u8",
  as_country: "u16",
  as_date: "u32",
  as_holder: "u32",
  /** Holders: the opaque ids of one file, and the AS numbers and address records that share each. */
  holder_id_start: "u32",
  holder_id_bytes: "u8",
  holder_as_start: "u32",
  holder_as: "u32",
  holder_record_start: "u32",
  holder_record: "u32",
  /** Number of the file of each holder: ids of two files cannot be compared. */
  holder_file: "u32",
} as const;

export const allocationsFormat: SectionFormat<typeof columns> = { kind: "allocations", version: 1, columns, optional: ["holder_file"] };
export type AllocationsColumns = Columns<typeof columns>;

export function allocationPrefixes(section: AllocationsColumns): PrefixColumns {
  return {
    ipv4: { address: section.v4_address, length: section.v4_length },
    ipv6: { words: section.v6_words, length: section.v6_length },
  };
}

/** Refuses columns with runs or references that lead out of bounds. */
export function checkAllocations(section: AllocationsColumns): void {
  const { kind } = allocationsFormat;
  const records = section.registry.length;
  const holders = Math.max(0, section.holder_id_start.length - 1);
  checkLengths(kind, section.v4_length.length, { v4_address: section.v4_address });
  checkLengths(kind, section.v6_length.length * 4, { v6_words: section.v6_words });
  checkRuns(kind, "cidr_start", section.cidr_start, section.v4_length.length + section.v6_length.length, section.cidr_record.length);
  checkBelow(kind, "cidr_record", section.cidr_record, records);
  checkLengths(kind, 1, { ipv4_records: section.ipv4_records });
  checkLengths(kind, records * 4, { record_start: section.record_start, record_end: section.record_end });
  const { status, country, date, holder, rank } = section;
  checkLengths(kind, records, { status, country, date, holder, rank });
  checkBelow(kind, "registry", section.registry, registries.length);
  checkBelow(kind, "status", status, statuses.length);
  checkBelow(kind, "holder", holder, holders, noHolder);
  checkBelow(kind, "ipv4_records", section.ipv4_records, records + 1);
  checkBelow(kind, "rank", rank, records);
  checkCountries(kind, "country", country);
  checkDates("date", date);
  checkBounds(section);
  const { as_last, as_registry, as_status, as_country, as_date, as_holder } = section;
  checkLengths(kind, section.as_first.length, { as_last, as_registry, as_status, as_country, as_date, as_holder });
  checkBelow(kind, "as_registry", as_registry, registries.length);
  checkBelow(kind, "as_status", as_status, statuses.length);
  checkBelow(kind, "as_holder", as_holder, holders, noHolder);
  checkCountries(kind, "as_country", as_country);
  checkDates("as_date", as_date);
  checkAsRuns(section);
  checkRuns(kind, "holder_id_start", section.holder_id_start, holders, section.holder_id_bytes.length);
  checkRuns(kind, "holder_as_start", section.holder_as_start, holders, section.holder_as.length);
  checkRuns(kind, "holder_record_start", section.holder_record_start, holders, section.holder_record.length);
  checkBelow(kind, "holder_record", section.holder_record, records);
  if (section.holder_file.length > 0) checkLengths(kind, holders, { holder_file: section.holder_file });
}

const refuse = (why: string): never => {
  throw new SectionFormatError(`section ${allocationsFormat.kind}: ${why}`);
};

/** Records of a family begin in ascending order and end at or after their start; IPv4 addresses use the first word only. */
function checkBounds({ record_start, record_end, ipv4_records }: AllocationsColumns): void {
  const ipv4 = ipv4_records[0] as number;
  for (let record = 0; record * 4 < record_start.length; record++) {
    let order = 0;
    for (let at = record * 4; at < record * 4 + 4; at++) {
      const [start, end] = [record_start[at] as number, record_end[at] as number];
      if (order === 0) order = end - start;
      if (record < ipv4 && at > record * 4 && (start !== 0 || end !== 0)) refuse(`record ${record} is IPv4 and has more than one word`);
    }
    if (order < 0) refuse(`record ${record} ends before it starts`);
    if (record > 0 && record !== ipv4 && compareWords(record_start, record - 1, record) > 0)
      refuse(`record ${record} starts before the previous one`);
  }
}

/** Below 0 where the address of record `a` is before that of record `b`. */
function compareWords(words: Uint32Array, a: number, b: number): number {
  for (let word = 0; word < 4; word++) {
    const difference = (words[a * 4 + word] as number) - (words[b * 4 + word] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

function checkAsRuns({ as_first, as_last }: AllocationsColumns): void {
  for (let run = 0; run < as_first.length; run++)
    if ((as_last[run] as number) < (as_first[run] as number) || (run > 0 && (as_first[run] as number) <= (as_last[run - 1] as number)))
      refuse(`run ${run} of AS numbers does not follow the previous one`);
}

function checkDates(name: string, dates: Uint32Array): void {
  dates.forEach((date, index) => {
    const [month, day] = [Math.floor(date / 100) % 100, date % 100];
    const isDate = date >= 1000_00_00 && date <= 9999_99_99 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
    if (date !== 0 && !isDate) refuse(`column ${name}[${index}] is ${date}, which is not a date`);
  });
}
