/** Section `network_types`: kinds of network that lists give for prefixes and AS numbers. */

import { comparePrefixes, containsPrefix, formatPrefix, type Prefix } from "@netfacts/address";
import { type PrefixColumns, sortPrefixes } from "@netfacts/prefix-trie";
import { type Columns, checkAscending, checkBelow, checkLengths, checkRuns, type SectionFormat, SectionFormatError } from "../columns.ts";
import { packStrings, type StringColumns } from "../strings.ts";

/** Value for "no type given". */
export const noType = 255;

/** The basis of the operator's list: the only one in objects of earlier writers. */
export const operatorTypesBasis = "operator:network-types";

/** Most types of one statement; the first one answers a request for a single type. */
export const statementTypesMax = 8;

const columns = {
  v4_address: "u32",
  v4_length: "u8",
  v6_words: "u32",
  v6_length: "u8",
  /** The operator's statement about each prefix, or about the nearest prefix around it: index of the type's word, and confidence in hundredths. */
  prefix_type: "u8",
  prefix_confidence: "u8",
  /** Ascending AS numbers, and the operator's statement about each. */
  as_number: "u32",
  as_type: "u8",
  as_confidence: "u8",
  type_start: "u32",
  type_bytes: "u8",
  /** For each prefix, then for each AS number, a run of statements. */
  said_start: "u32",
  said: "u32",
  /** For each different statement: confidence, a run of types, and a run of texts. */
  statement_confidence: "u8",
  statement_type_start: "u32",
  statement_type: "u8",
  /** Basis, provider and region (the last two empty if there is none), then the services. */
  statement_text_start: "u32",
  statement_text: "u32",
  text_start: "u32",
  text_bytes: "u8",
} as const;

const statementColumns = [
  "said_start",
  "said",
  "statement_confidence",
  "statement_type_start",
  "statement_type",
  "statement_text_start",
  "statement_text",
  "text_start",
  "text_bytes",
] as const;

/**
 * Prefixes in preorder (IPv4, then IPv6, each by address and length). Readers that know only the operator's types read the columns up to
 * `type_bytes`, and answer as before. Objects of writers that know only these lack the later columns.
 */
export const networkTypesFormat: SectionFormat<typeof columns> = {
  kind: "network_types",
  version: 1,
  columns,
  optional: statementColumns,
};
export type NetworkTypesColumns = Columns<typeof columns>;

/** The statement of one list about a prefix or an AS number. */
export interface NetworkTypeStatement {
  /** One to `statementTypesMax` words, best match first. */
  readonly types: readonly string[];
  /** From 0 to 1, kept in hundredths. */
  readonly confidence: number;
  readonly basis: string;
  readonly provider: string | null;
  readonly region: string | null;
  readonly services: readonly string[];
}

/** Any number of records may share one statement object. */
export type NetworkTypeRecord = { readonly statement: NetworkTypeStatement } & ({ readonly prefix: Prefix } | { readonly asn: number });

export function networkTypePrefixes(section: NetworkTypesColumns): PrefixColumns {
  return {
    ipv4: { address: section.v4_address, length: section.v4_length },
    ipv6: { words: section.v6_words, length: section.v6_length },
  };
}

/** Statements about one prefix or AS number, by their basis. */
type Statements = ReadonlyMap<string, NetworkTypeStatement>;

/**
 * Packs statements. The last of several for one prefix or AS number with the same basis wins. Throws `RangeError` for more than 255 different types.
 */
export function networkTypesColumns(records: readonly NetworkTypeRecord[]): NetworkTypesColumns {
  const byPrefix = new Map<string, { prefix: Prefix; said: Map<string, NetworkTypeStatement> }>();
  const byAsn = new Map<number, Map<string, NetworkTypeStatement>>();
  for (const record of records) {
    const said = "asn" in record ? saidOf(byAsn, record.asn) : saidOfPrefix(byPrefix, record.prefix);
    said.set(record.statement.basis, record.statement);
  }
  const prefixes = [...byPrefix.values()].sort((a, b) => comparePrefixes(a.prefix, b.prefix));
  const sorted = sortPrefixes(prefixes.map(({ prefix }) => prefix));
  const numbers = Uint32Array.from(byAsn.keys()).sort();
  const all: Statements[] = [...prefixes.map(({ said }) => said), ...Array.from(numbers, (asn) => byAsn.get(asn) as Statements)];
  const statements = new StatementTable();
  const said = all.map((one) => [...one.values()].sort(compareBases).map((statement) => statements.code(statement)));
  const types = packTypes([...new Set(statements.list.flatMap((statement) => statement.types))]);
  const words = typeCodes(statements.list.flatMap((statement) => statement.types));
  const operators = [...nearestOperators(prefixes), ...all.slice(prefixes.length).map((one) => one.get(operatorTypesBasis) ?? null)];
  const code = (of: NetworkTypeStatement | null) => (of === null ? noType : (words.get(of.types[0] as string) as number));
  const hundredths = (of: NetworkTypeStatement | null) => Math.round((of?.confidence ?? 0) * 100);
  const operatorTypes = Uint8Array.from(operators, code);
  const operatorConfidences = Uint8Array.from(operators, hundredths);
  const texts = new Texts();
  const runs = statements.list.map(({ basis, provider, region, services }) =>
    [basis, provider ?? "", region ?? "", ...services].map((text) => texts.code(text)),
  );
  const packed = packStrings(texts.list);
  return {
    v4_address: sorted.columns.ipv4.address,
    v4_length: sorted.columns.ipv4.length,
    v6_words: sorted.columns.ipv6.words,
    v6_length: sorted.columns.ipv6.length,
    prefix_type: operatorTypes.slice(0, prefixes.length),
    prefix_confidence: operatorConfidences.slice(0, prefixes.length),
    as_number: numbers,
    as_type: operatorTypes.slice(prefixes.length),
    as_confidence: operatorConfidences.slice(prefixes.length),
    type_start: types.start,
    type_bytes: types.bytes,
    said_start: runStarts(said),
    said: Uint32Array.from(said.flat()),
    statement_confidence: Uint8Array.from(statements.list, hundredths),
    statement_type_start: runStarts(statements.list.map(({ types }) => types)),
    statement_type: Uint8Array.from(
      statements.list.flatMap((statement) => statement.types),
      (word) => words.get(word) as number,
    ),
    statement_text_start: runStarts(runs),
    statement_text: Uint32Array.from(runs.flat()),
    text_start: packed.start,
    text_bytes: packed.bytes,
  };
}

function saidOf<K>(map: Map<K, Map<string, NetworkTypeStatement>>, key: K): Map<string, NetworkTypeStatement> {
  const known = map.get(key) ?? new Map<string, NetworkTypeStatement>();
  map.set(key, known);
  return known;
}

function saidOfPrefix(
  map: Map<string, { prefix: Prefix; said: Map<string, NetworkTypeStatement> }>,
  prefix: Prefix,
): Map<string, NetworkTypeStatement> {
  const key = formatPrefix(prefix);
  const known = map.get(key) ?? { prefix, said: new Map<string, NetworkTypeStatement>() };
  map.set(key, known);
  return known.said;
}

function compareBases(a: NetworkTypeStatement, b: NetworkTypeStatement): number {
  return a.basis < b.basis ? -1 : 1;
}

/** The operator's statement about each prefix itself, or otherwise about the nearest prefix around it. @param prefixes  in preorder. */
function nearestOperators(prefixes: readonly { prefix: Prefix; said: Statements }[]): (NetworkTypeStatement | null)[] {
  const around: { prefix: Prefix; statement: NetworkTypeStatement | null }[] = [];
  return prefixes.map(({ prefix, said }) => {
    while (around.length > 0 && !containsPrefix((around.at(-1) as { prefix: Prefix }).prefix, prefix)) around.pop();
    const statement = said.get(operatorTypesBasis) ?? around.at(-1)?.statement ?? null;
    around.push({ prefix, statement });
    return statement;
  });
}

/** Different statements, numbered in the order of first use. */
class StatementTable {
  readonly list: NetworkTypeStatement[] = [];
  readonly #byObject = new Map<NetworkTypeStatement, number>();
  readonly #byText = new Map<string, number>();

  code(statement: NetworkTypeStatement): number {
    const seen = this.#byObject.get(statement);
    if (seen !== undefined) return seen;
    const { types, confidence, basis, provider, region, services } = statement;
    const text = JSON.stringify([types, Math.round(confidence * 100), basis, provider, region, services]);
    const code = this.#byText.get(text) ?? this.list.push(statement) - 1;
    this.#byText.set(text, code);
    this.#byObject.set(statement, code);
    return code;
  }
}

/** Different texts, numbered in the order of first use. */
class Texts {
  readonly list: string[] = [];
  readonly #codes = new Map<string, number>();

  code(text: string): number {
    const code = this.#codes.get(text) ?? this.list.push(text) - 1;
    this.#codes.set(text, code);
    return code;
  }
}

function runStarts(runs: readonly { readonly length: number }[]): Uint32Array {
  const starts = new Uint32Array(runs.length + 1);
  for (const [index, run] of runs.entries()) starts[index + 1] = (starts[index] as number) + run.length;
  return starts;
}

/** The index of each word among the different ones, ascending. */
function typeCodes(words: readonly string[]): Map<string, number> {
  return new Map([...new Set(words)].sort().map((word, code) => [word, code]));
}

/** A table of the different words, ascending, and the code of each given word. */
export function packTypes(words: readonly (string | null)[]): StringColumns & { readonly codes: Uint8Array } {
  const codes = typeCodes(words.filter((word) => word !== null));
  if (codes.size > noType) throw new RangeError(`${codes.size} different network types; the format allows ${noType}`);
  return {
    ...packStrings([...codes.keys()]),
    codes: Uint8Array.from(words, (word) => (word === null ? noType : (codes.get(word) as number))),
  };
}

/** Checks a table of words, the codes that refer to it, and confidences. Throws `SectionFormatError`. */
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

/** Whether the section has statements: an object of an earlier writer has only the operator's types. */
export function hasStatements({ said_start }: NetworkTypesColumns): boolean {
  return said_start.length > 0;
}

/** Refuses columns with references that lead out of bounds. The trie checks the order of prefixes. */
export function checkNetworkTypes(section: NetworkTypesColumns): void {
  const { kind } = networkTypesFormat;
  const { prefix_type, prefix_confidence, as_number, as_type, as_confidence } = section;
  checkLengths(kind, section.v4_length.length, { v4_address: section.v4_address });
  checkLengths(kind, section.v6_length.length * 4, { v6_words: section.v6_words });
  checkLengths(kind, section.v4_length.length + section.v6_length.length, { prefix_type, prefix_confidence });
  checkLengths(kind, as_number.length, { as_type, as_confidence });
  checkAscending(kind, "as_number", as_number);
  checkTypes(kind, section, { prefix_type, as_type }, { prefix_confidence, as_confidence });
  if (hasStatements(section)) checkStatements(section);
  else checkLengths(kind, 0, Object.fromEntries(statementColumns.map((name) => [name, section[name]])));
}

function checkStatements(section: NetworkTypesColumns): void {
  const { kind } = networkTypesFormat;
  const { said_start, said, statement_confidence, statement_type_start, statement_type, statement_text_start, statement_text } = section;
  const count = statement_confidence.length;
  const textCount = Math.max(0, section.text_start.length - 1);
  checkRuns(kind, "said_start", said_start, section.prefix_type.length + section.as_number.length, said.length);
  checkBelow(kind, "said", said, count);
  checkBelow(kind, "statement_confidence", statement_confidence, 101);
  checkRuns(kind, "statement_type_start", statement_type_start, count, statement_type.length);
  checkBelow(kind, "statement_type", statement_type, section.type_start.length - 1);
  checkRuns(kind, "statement_text_start", statement_text_start, count, statement_text.length);
  checkBelow(kind, "statement_text", statement_text, textCount);
  checkRuns(kind, "text_start", section.text_start, textCount, section.text_bytes.length);
  checkRunLengths("statement_type_start", statement_type_start, 1);
  checkRunLengths("statement_text_start", statement_text_start, 3);
}

function checkRunLengths(name: string, starts: Uint32Array, min: number): void {
  for (let index = 1; index < starts.length; index++)
    if ((starts[index] as number) - (starts[index - 1] as number) < min)
      throw new SectionFormatError(`section ${networkTypesFormat.kind}: column ${name}[${index}] leaves a run of fewer than ${min} items`);
}
