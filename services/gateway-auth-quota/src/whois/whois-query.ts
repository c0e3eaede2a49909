/** Reads lines of whois clients (RFC 3912): addresses, prefixes and AS numbers, with the flags and bulk words of Team Cymru's server. */

import {
  type Address,
  addressMistake,
  asnMistake,
  type Prefix,
  parseAddress,
  parseAsn,
  parsePrefix,
  prefixMistake,
} from "@netfacts/address";

/** The columns of an answer and their form. */
export interface WhoisFormat {
  readonly asNumber: boolean;
  readonly prefix: boolean;
  readonly countryCode: boolean;
  readonly registry: boolean;
  readonly allocated: boolean;
  readonly asName: boolean;
  /** Whether names are truncated. */
  readonly truncate: boolean;
  readonly header: boolean;
}

export const plainFormat: WhoisFormat = {
  asNumber: true,
  prefix: false,
  countryCode: false,
  registry: false,
  allocated: false,
  asName: true,
  truncate: true,
  header: true,
};

interface Flag {
  /** Letter of the flag after a dash. */
  readonly letter: string;
  /** Word for the flag, which is a separate line in bulk mode. */
  readonly word: string;
  readonly changes: Partial<WhoisFormat>;
  /** Description in the help text. */
  readonly meaning: string;
}

const all = { prefix: true, countryCode: true, registry: true, allocated: true, asName: true, asNumber: true, truncate: false };

/** The flags of Team Cymru's server, so that its clients work here. */
const flags: readonly Flag[] = [
  { letter: "v", word: "verbose", changes: all, meaning: "all columns, and names in full" },
  { letter: "p", word: "prefix", changes: { prefix: true }, meaning: "the announced prefix" },
  { letter: "q", word: "noprefix", changes: { prefix: false }, meaning: "no prefix (default)" },
  { letter: "c", word: "countrycode", changes: { countryCode: true }, meaning: "the country of registration" },
  { letter: "d", word: "nocountrycode", changes: { countryCode: false }, meaning: "no country (default)" },
  { letter: "r", word: "registry", changes: { registry: true }, meaning: "the registry" },
  { letter: "s", word: "noregistry", changes: { registry: false }, meaning: "no registry (default)" },
  { letter: "a", word: "allocdate", changes: { allocated: true }, meaning: "the date of registration" },
  { letter: "b", word: "noallocdate", changes: { allocated: false }, meaning: "no date (default)" },
  { letter: "n", word: "asname", changes: { asName: true }, meaning: "the name of the AS (default)" },
  { letter: "o", word: "noasname", changes: { asName: false }, meaning: "no name" },
  { letter: "t", word: "truncate", changes: { truncate: true }, meaning: "names cut after 60 characters (default)" },
  { letter: "u", word: "notruncate", changes: { truncate: false }, meaning: "names in full" },
  { letter: "e", word: "header", changes: { header: true }, meaning: "a line of column titles (default)" },
  { letter: "f", word: "noheader", changes: { header: false }, meaning: "no column titles" },
  { letter: "w", word: "asnumber", changes: { asNumber: true }, meaning: "the AS number (default)" },
  { letter: "x", word: "noasnumber", changes: { asNumber: false }, meaning: "no AS number" },
];

export type WhoisTarget =
  | { readonly kind: "ip"; readonly ip: Address }
  | { readonly kind: "prefix"; readonly prefix: Prefix }
  | { readonly kind: "asn"; readonly asn: number };

/** A line that names nothing that can be looked up, and the text that was meant, if that is clear. */
interface UnknownLine {
  readonly kind: "unknown";
  readonly meant: string | null;
}

/** The request in a client's first line. */
export type WhoisQuery =
  | { readonly kind: "one"; readonly format: WhoisFormat; readonly target: WhoisTarget }
  | { readonly kind: "bulk" }
  | { readonly kind: "help" }
  | UnknownLine;

/** Reads the first line of a client, without its end. */
export function readQuery(line: string): WhoisQuery {
  const words = line.trim().split(/\s+/);
  const [first = ""] = words;
  if (words.length === 1 && /^begin$/i.test(first)) return { kind: "bulk" };
  if (words.length === 1 && /^(?:-h|help|\?)?$/i.test(first)) return { kind: "help" };
  let format: WhoisFormat = plainFormat;
  for (const word of words) {
    const changed = withFlags(format, word);
    if (changed !== null) format = changed;
    else {
      // The rest of the line is a comment, such as the time at which the address was seen.
      const target = readTarget(word);
      return target === null ? unknownLine(word) : { kind: "one", format, target };
    }
  }
  return { kind: "unknown", meant: null };
}

/** A line of a bulk: a change of the format, a resource, or the end. */
export type BulkLine =
  | { readonly kind: "format"; readonly format: WhoisFormat }
  | { readonly kind: "target"; readonly target: WhoisTarget }
  | { readonly kind: "end" | "empty" }
  | UnknownLine;

/** Reads a line of a bulk. Text after the resource is a comment; some clients send a date there. */
export function readBulkLine(line: string, format: WhoisFormat): BulkLine {
  const [word = ""] = line.trim().split(/\s+/);
  if (word === "") return { kind: "empty" };
  if (/^end$/i.test(word)) return { kind: "end" };
  const flag = flags.find((one) => one.word === word.toLowerCase());
  if (flag !== undefined) return { kind: "format", format: { ...format, ...flag.changes } };
  const target = readTarget(word);
  return target === null ? unknownLine(word) : { kind: "target", target };
}

function unknownLine(word: string): UnknownLine {
  const mistakeOf = word.includes("/") ? prefixMistake : /^as/i.test(word) ? asnMistake : addressMistake;
  return { kind: "unknown", meant: mistakeOf(word).suggestion };
}

/** The format changed by a word of a query line, such as `-v`, `-pc` or `prefix`; null: the word is unknown. */
function withFlags(format: WhoisFormat, word: string): WhoisFormat | null {
  const named = flags.find((flag) => flag.word === word.toLowerCase());
  if (named !== undefined) return { ...format, ...named.changes };
  if (!/^-[a-z]+$/i.test(word)) return null;
  let changed = format;
  for (const letter of word.slice(1).toLowerCase()) {
    const flag = flags.find((one) => one.letter === letter);
    if (flag === undefined) return null;
    changed = { ...changed, ...flag.changes };
  }
  return changed;
}

/** An address, a prefix (of the network, if host bits are set), or an AS number with or without `AS`; null for anything else. */
function readTarget(text: string): WhoisTarget | null {
  const ip = parseAddress(text);
  if (ip !== null) return { kind: "ip", ip };
  const asn = parseAsn(text);
  if (asn !== null) return { kind: "asn", asn };
  const reading = parsePrefix(text);
  if (reading.ok) return { kind: "prefix", prefix: reading.prefix };
  return reading.fault === "host-bits" ? { kind: "prefix", prefix: reading.corrected } : null;
}

export const helpText = [
  "Netfacts whois",
  "",
  "One request: [flags] address | prefix | AS number",
  "Many:        begin, then flags as words and one request a line, then end",
  "",
  ...flags.map(({ letter, word, meaning }) => `  -${letter}  ${word.padEnd(14)} ${meaning}`),
  "  -h  help           this text",
  "",
  "NA: unknown, or not announced. A prefix with several origins has a line for each.",
  "",
].join("\n");
