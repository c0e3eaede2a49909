/** Reader of the registries' delegated and delegated-extended statistics (the RIR statistics exchange format, version 2). */

import { type Address, compareAddresses, lastAddress, makePrefix, parseAddress } from "@netfacts/address";
import { boundedContent } from "./bounded-content.ts";
import { readCalendarDate } from "./calendar-date.ts";
import { asnExcess, ipv4Excess, ipv6Excess } from "./delegated-bounds.ts";
import { beyondError, ClaimedCounts, countsText, differing, HeldCounts } from "./delegated-counts.ts";
import { cutLine, forEachLine } from "./lines.ts";
import { Overlaps } from "./overlaps.ts";
import { printable, type ReaderReport, type SourceContent, SourceError, Tally } from "./reader-report.ts";

const registries = ["afrinic", "apnic", "arin", "iana", "lacnic", "ripencc"] as const;
const statuses = ["allocated", "assigned", "available", "reserved"] as const;

export type DelegationRegistry = (typeof registries)[number];
export type DelegationStatus = (typeof statuses)[number];

/** One record as published; the range is inclusive. */
export type DelegationRecord = {
  registry: DelegationRegistry;
  /** Two capital letters, which may be `EU` or `AP`; null for `ZZ` and none. */
  country: string | null;
  /** year × 10,000 + month × 100 + day; null for none and `00000000`. */
  date: number | null;
  status: DelegationStatus;
  /** Joins records of one holder within one file of one date; null in plain files. */
  opaqueId: string | null;
} & ({ kind: "ipv4" | "ipv6"; start: Address; end: Address } | { kind: "asn"; start: number; end: number });

const opaqueIdLettersMax = 256;
/** Most records of one file that may contain the same address. In known files no address has two; the answer to each would list them all. */
const overlapMax = 16;

interface Header {
  registry: string;
  /** The day after that of the file, in the form of records: no date of a record is later. */
  latestDay: number;
  records: number;
  asOf: number;
}

/**
 * Reads the file and hands each good record to the sink, in the order of the file. The sink is called before the whole file is known to be good:
 * on an error, discard what it got.
 *
 * @returns the report. Its `kinds` count the records that have a holder. They count them by registry too, to notice a file in the place of another one;
 * and those that name their holder, to notice a plain file in the place of an extended one.
 * @throws SourceError if this is not such a file, or it has no records, has more bad lines than allowed, ends within a line, or has an address in more
 * than 16 records; also if it differs from its own counts by more than is known of its registry. A smaller difference is a note.
 */
export async function readDelegated(content: SourceContent, sink: (record: DelegationRecord) => void): Promise<ReaderReport> {
  const { file, badRecordsMax, countErrorMax = null, registry: expected = null } = content;
  const { chunks, meter } = boundedContent(content);
  const tally = new Tally();
  const claimed = new ClaimedCounts();
  const held = new HeldCounts();
  const opaqueIds = new Map<string, string>();
  const overlaps = { ipv4: new Overlaps(), ipv6: new Overlaps() };
  const known: { header: Header | null } = { header: null };
  let byteOrderMark = false;

  const takeRecord = (fields: string[], header: Header, line: number, text: string): void => {
    tally.read++;
    if (isKind(fields[2])) claimed.find(fields[2]);
    const record = readRecord(fields, header);
    if (typeof record === "string") {
      tally.bad(record, { line }, text);
      return;
    }
    // The id is a slice of its line and would keep the line in memory. One copy per holder avoids that.
    if (record.opaqueId !== null) record.opaqueId = opaqueIds.get(record.opaqueId) ?? intern(opaqueIds, record.opaqueId);
    tally.accepted++;
    held.add(record);
    if (record.kind !== "asn") overlaps[record.kind].add(record.start, record.end);
    sink(record);
  };

  const { lines, ended } = await forEachLine(file, chunks, (bytes, start, end, line) => {
    let text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1");
    // Editors add a byte order mark, which nobody sees.
    if (line === 1 && text.startsWith("\u00ef\u00bb\u00bf")) {
      byteOrderMark = true;
      text = text.slice(3);
    }
    if (text.startsWith("#") || text.trim() === "") return;
    const fields = text.split("|");
    const { header } = known;
    if (header === null) {
      known.header = readHeader(file, line, fields, expected);
      return;
    }
    const summary = readSummary(fields);
    if (summary === null) takeRecord(fields, header, line, text);
    else claimed.claim(summary.kind, summary.count);
  });

  const { registry, records, asOf } = known.header ?? failNoHeader(file, lines);
  const at = { line: lines };
  tally.judge(file, badRecordsMax, "records", at);
  const counts = claimed.compared({ count: records, has: tally.read });
  if (!ended) throw cutLine(file, lines, countsText(differing(counts)));
  const wrong = beyondError(counts, registry, countErrorMax);
  if (wrong.length > 0)
    throw new SourceError(
      file,
      at,
      `differs from the counts in it: ${countsText(wrong)}; it is truncated or damaged. If the registry counted wrongly, count_error_max allows a share`,
    );
  for (const [kind, ranges] of Object.entries(overlaps)) refuseOverlaps(file, at, kind, ranges);
  const notes = differing(counts).map((each) => countsText([each]));
  if (byteOrderMark) notes.unshift("begins with a byte order mark");
  if (registry === "nro") notes.push("the combined file of all registries");
  return {
    bytes: meter.bytes,
    seconds: meter.seconds(),
    read: tally.read,
    accepted: tally.accepted,
    skipped: tally.skipped(),
    asOf,
    notes,
    kinds: held.kinds(),
  };
}

function refuseOverlaps(file: string, at: { readonly line: number }, kind: string, ranges: Overlaps): void {
  const most = ranges.most();
  if (most <= overlapMax) return;
  throw new SourceError(file, at, `has ${most} ${kind} records of one address, and a registry delegates an address once; it is damaged`);
}

/** Reads `registry|*|type|*|count|summary`; null for any other line. */
function readSummary(fields: string[]): { readonly kind: DelegationRecord["kind"]; readonly count: number } | null {
  const [, , kind, , value, word] = fields;
  if (word !== "summary" || !isKind(kind)) return null;
  const count = readWhole(value, 0xffff_ffff);
  return count === null ? null : { kind, count };
}

/** @param expected  the registry in the name of the file; null: any */
function readHeader(file: string, line: number, fields: string[], expected: string | null): Header {
  const [version = "", registry = "", serial = "", records, , end = ""] = fields;
  const fail = (reason: string) =>
    new SourceError(
      file,
      { line },
      `${reason}; expected a version line such as 2|ripencc|20260105|120000|19830705|20260104|+0100; found "${printable(fields.join("|"))}"`,
    );
  if (fields.length < 6 || !/^\d+(\.\d+)?$/.test(version)) throw fail("not a delegated statistics file");
  if (!/^2(\.\d+)?$/.test(version)) throw fail(`version ${version} of the format is not supported`);
  if (registry !== "nro" && !isRegistry(registry)) throw fail(`unknown registry "${registry}"`);
  const count = readWhole(records, 0xffff_ffff);
  if (count === null) throw fail("the version line has no record count");
  const asOf = secondsOfDate(end) ?? secondsOfSerial(serial);
  if (asOf === null) throw fail("neither the end date nor the serial is a date");
  if (expected !== null && registry !== expected)
    throw new SourceError(file, { line }, `is a file of ${registry}, and has the name of a file of ${expected}`);
  return { registry, records: count, asOf, latestDay: dayOf(asOf + 86_400) };
}

/** Reads `registry|cc|type|start|value|date|status[|opaque-id[|…]]`; returns text to say what is wrong. */
function readRecord(
  fields: string[],
  { registry: headerRegistry, latestDay }: Pick<Header, "registry" | "latestDay">,
): DelegationRecord | string {
  const [registry = "", cc = "", kind, start = "", value, day = "", status = "", id = ""] = fields;
  if (fields.length < 7) return "fewer than seven fields";
  if (!isRegistry(registry) || (headerRegistry !== "nro" && registry !== headerRegistry && registry !== "iana"))
    return "not a registry of this file";
  if (cc !== "" && !/^[A-Z]{2}$/.test(cc)) return "not a country code";
  if (!isStatus(status)) return "not a status";
  const date = day === "" || day === "00000000" ? null : readCalendarDate(day);
  if (date === null && day !== "" && day !== "00000000") return "not a date";
  if (date !== null && date > latestDay) return "a date later than the file's own";
  if (id.length > opaqueIdLettersMax || !/^[\x20-\x7e]*$/.test(id)) return "not an opaque id";
  const common = { registry, country: cc === "" || cc === "ZZ" ? null : cc, date, status, opaqueId: id === "" ? null : id };
  if (kind === "asn") {
    const first = readWhole(start, 0xffff_ffff);
    const count = readWhole(value, 2 ** 32);
    if (first === null || count === null || count === 0 || first + count > 2 ** 32) return "not a range of AS numbers";
    const excess = registry === "iana" ? null : asnExcess(count);
    if (excess !== null) return excess;
    return { ...common, kind, start: first, end: first + count - 1 };
  }
  if (kind !== "ipv4" && kind !== "ipv6") return "not a resource type";
  const range = kind === "ipv4" ? ipv4Range(start, value) : ipv6Range(start, value);
  if (range === null) return `not a range of ${kind === "ipv4" ? "IPv4" : "IPv6"} addresses`;
  const isBounded = registry !== "iana";
  const excess = !isBounded ? null : kind === "ipv4" ? ipv4Excess(range.start, range.end) : ipv6Excess(range.start, Number(value));
  return excess ?? { ...common, kind, ...range };
}

/** The count need not be a power of two: one record can cover several CIDRs. */
function ipv4Range(text: string, value: string | undefined): { start: Address; end: Address } | null {
  const start = parseAddress(text);
  const count = readWhole(value, 2 ** 32);
  if (start === null || start.version !== 4 || count === null || count === 0 || start.w0 + count > 2 ** 32) return null;
  return { start, end: { ...start, w0: start.w0 + count - 1 } };
}

function ipv6Range(text: string, value: string | undefined): { start: Address; end: Address } | null {
  const start = parseAddress(text);
  const length = readWhole(value, 128);
  if (start === null || start.version !== 6 || length === null || length === 0) return null;
  const prefix = makePrefix(6, start.w0, start.w1, start.w2, start.w3, length);
  return compareAddresses(prefix, start) === 0 ? { start, end: lastAddress(prefix) } : null;
}

function isRegistry(text: string): text is DelegationRegistry {
  return (registries as readonly string[]).includes(text);
}

function isKind(text: string | undefined): text is DelegationRecord["kind"] {
  return text === "ipv4" || text === "ipv6" || text === "asn";
}

function isStatus(text: string): text is DelegationStatus {
  return (statuses as readonly string[]).includes(text);
}

/** Plain decimal digits up to `max`; null for anything else. */
function readWhole(text: string | undefined, max: number): number | null {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return null;
  const value = Number(text);
  return value <= max ? value : null;
}

/** Unix seconds of the beginning of a day `yyyymmdd`. */
function secondsOfDate(text: string): number | null {
  const date = readCalendarDate(text);
  return date === null ? null : Date.UTC(Math.floor(date / 10_000), (Math.floor(date / 100) % 100) - 1, date % 100) / 1000;
}

/** A time in Unix seconds as year × 10,000 + month × 100 + day. */
function dayOf(seconds: number): number {
  return Number(new Date(seconds * 1000).toISOString().slice(0, 10).replaceAll("-", ""));
}

/** Known serials: a date, Unix seconds, Unix milliseconds. */
function secondsOfSerial(text: string): number | null {
  if (/^\d{8}$/.test(text)) return secondsOfDate(text);
  if (/^\d{10}$/.test(text)) return Number(text);
  return /^\d{13}$/.test(text) ? Math.floor(Number(text) / 1000) : null;
}

function intern(texts: Map<string, string>, text: string): string {
  const copy = Buffer.from(text, "latin1").toString("latin1");
  texts.set(copy, copy);
  return copy;
}

function failNoHeader(file: string, lines: number): never {
  throw new SourceError(file, { line: Math.max(1, lines) }, "not a delegated statistics file: it has no version line");
}
