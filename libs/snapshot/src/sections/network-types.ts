/** Section `network_types`: what the operator says of prefixes and AS numbers: the kind of network they are. */

import { comparePrefixes, formatPrefix, type Prefix } from "@netfacts/address";
import { type PrefixColumns, sortPrefixes } from "@netfacts/prefix-trie";
import { type Columns, checkAscending, checkBelow, checkLengths, checkRuns, type SectionFormat } from "../columns.ts";
import { packStrings, type StringColumns } from "../strings.ts";

/** Stands for "no type told". */
export const noType = 255;

const columns = {
  v4_address: "u32",
  v4_length: "u8",
  v6_words: "u32",
  v6_length: "u8",
  /** Index of the type's word, and the confidence in hundredths, of each prefix. */
  prefix_type: "u8",
  prefix_confidence: "u8",
  /** Ascending AS numbers, and the same of each. */
  as_number: "u32",
  as_type: "u8",
  as_confidence: "u8",
  type_start: "u32",
  type_bytes: "u8",
} as const;

/** Prefixes in preorder (IPv4, then IPv6, each by address and length). */
export const networkTypesFormat: SectionFormat<typeof columns> = { kind: "network_types", version: 1, columns };
export type NetworkTypesColumns = Columns<typeof columns>;

/** A type in one word; `confidence` from 0 to 1, kept in hundredths. */
export interface TypeOf {
  readonly type: string;
  readonly confidence: number;
}

/** The type of a prefix or of an AS number. */
export type NetworkTypeRecord = TypeOf & ({ readonly prefix: Prefix } | { readonly asn: number });

export function networkTypePrefixes(section: NetworkTypesColumns): PrefixColumns {
  return {
    ipv4: { address: section.v4_address, length: section.v4_length },
    ipv6: { words: section.v6_words, length: section.v6_length },
  };
}

/** Packs types; of several records of one prefix or AS number the last stays. Throws `RangeError` for more than 255 different types. */
export function networkTypesColumns(records: readonly NetworkTypeRecord[]): NetworkTypesColumns {
  const byPrefix = new Map(records.flatMap((one) => ("prefix" in one ? [[formatPrefix(one.prefix), one]] : [])));
  const asns = new Map(records.flatMap((one) => ("asn" in one ? [[one.asn, one]] : [])));
  const distinct = [...byPrefix.values()];
  const sorted = sortPrefixes(distinct.map(({ prefix }) => prefix));
  const ordered = distinct.toSorted((a, b) => comparePrefixes(a.prefix, b.prefix));
  const numbers = Uint32Array.from(asns.keys()).sort();
  const ofAsns = Array.from(numbers, (asn) => asns.get(asn) as TypeOf);
  const types = packTypes([...ordered, ...ofAsns].map(({ type }) => type));
  const hundredths = ({ confidence }: TypeOf) => Math.round(confidence * 100);
  return {
    v4_address: sorted.columns.ipv4.address,
    v4_length: sorted.columns.ipv4.length,
    v6_words: sorted.columns.ipv6.words,
    v6_length: sorted.columns.ipv6.length,
    prefix_type: types.codes.slice(0, ordered.length),
    prefix_confidence: Uint8Array.from(ordered, hundredths),
    as_number: numbers,
    as_type: types.codes.slice(ordered.length),
    as_confidence: Uint8Array.from(ofAsns, hundredths),
    type_start: types.start,
    type_bytes: types.bytes,
  };
}

/** Words as a table without repetition, ascending, and the code of each. */
export function packTypes(words: readonly (string | null)[]): StringColumns & { readonly codes: Uint8Array } {
  const table = [...new Set(words.filter((word) => word !== null))].sort();
  if (table.length > noType) throw new RangeError(`${table.length} different network types; the format allows ${noType}`);
  return { ...packStrings(table), codes: Uint8Array.from(words, (word) => (word === null ? noType : table.indexOf(word))) };
}

/** Checks a table of words, the codes that lead into it, and confidences. Throws `SectionFormatError`. */
export function checkTypes(
  kind: string,
  table: { readonly type_start: Uint32Array; readonly type_bytes: Uint8Array },
  codes: Readonly<Record<string, Uint8Array>>,
  confidences: Readonly<Record<string, Uint8Array>>,
): void {
  checkRuns(kind, "type_start", table.type_start, Math.max(0, table.type_start.length - 1), table.type_bytes.length);
  for (const [name, column] of Object.entries(codes)) checkBelow(kind, name, column, table.type_start.length - 1, noType);
  for (const [name, column] of Object.entries(confidences)) checkBelow(kind, name, column, 101);
}

/** Refuses columns whose references would lead outside them. The order of prefixes is the trie's to check. */
export function checkNetworkTypes(section: NetworkTypesColumns): void {
  const { kind } = networkTypesFormat;
  const { prefix_type, prefix_confidence, as_number, as_type, as_confidence } = section;
  checkLengths(kind, section.v4_length.length, { v4_address: section.v4_address });
  checkLengths(kind, section.v6_length.length * 4, { v6_words: section.v6_words });
  checkLengths(kind, section.v4_length.length + section.v6_length.length, { prefix_type, prefix_confidence });
  checkLengths(kind, as_number.length, { as_type, as_confidence });
  checkAscending(kind, "as_number", as_number);
  checkTypes(kind, section, { prefix_type, as_type }, { prefix_confidence, as_confidence });
}
