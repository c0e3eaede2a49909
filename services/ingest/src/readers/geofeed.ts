/** Reader of geofeeds (RFC 8805): where networks say that their prefixes are used. */

import { formatPrefix, makePrefix, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import { isCountry } from "@netfacts/records";
import type { PlaceNames, SectionRecord } from "@netfacts/snapshot";
import { nameLettersMax, readName } from "./as-profiles.ts";
import { boundedContent } from "./bounded-content.ts";
import { readCalendarDate } from "./calendar-date.ts";
import { splitCsvLine } from "./csv.ts";
import { cutLine, forEachLine } from "./lines.ts";
import { ReadableText } from "./readable-text.ts";
import { type ReaderReport, type SourceContent, Tally } from "./reader-report.ts";

type LocationRecord = SectionRecord<"locations">;

/** Prefix, country, region, city and postal code. */
const fieldCount = 5;

/** No network has more: IANA delegates IPv4 by /8 and at most a /12 of IPv6. A `0.0.0.0/0` would give a place to the whole internet. */
const lengthMin = { 4: 8, 6: 12 } as const;

/** Has been used to say that a prefix has no location (RFC 8805 §2.1.2). */
const nowhere = "ZZ";

const linesNamedMax = 5;

/** RFC 3339. */
const timestampForm = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/**
 * Reads lines `prefix,country,region,city,postal code`. Blank lines and comments (`#`) are ignored. Fields that are missing at the end of
 * a line are empty; postal codes and further fields are not kept (RFC 8805 §2.1). A prefix whose fields are all empty, or whose country
 * is `ZZ`, is a record without a place. A comment `last updated … <time>` before the first record is the time of the file.
 *
 * A prefix that appears again is left out if it has the same place, and is bad if it has another one: the first line stays.
 *
 * Throws `SourceError` with the line for a file without records, with more bad ones than allowed, or cut within its last line.
 *
 * Cost: some 300 bytes a record while it reads.
 */
export async function readGeofeed(content: SourceContent): Promise<{ records: LocationRecord[]; report: ReaderReport }> {
  const { file, badRecordsMax } = content;
  const { chunks, meter } = boundedContent(content);
  const tally = new Tally();
  const texts = new ReadableText();
  const found = new Map<string, LocationRecord>();
  const places = new Map<string, PlaceNames>();
  const short = new NotedLines("lines with fewer than five fields, the others read as empty");
  const long = new NotedLines("lines with more than five fields, the others ignored");
  let asOf: number | null = null;

  const { lines, ended } = await forEachLine(file, chunks, (bytes, start, end, line) => {
    const text = texts.decode(bytes.subarray(start, end), line === 1);
    if (text.startsWith("#")) {
      if (tally.read === 0) asOf ??= updatedAt(text);
      return;
    }
    if (text.trim() === "") return;
    tally.read++;
    const fields = splitCsvLine(text);
    if (fields === null) return tally.bad("a quote is not closed", { line }, text);
    const prefix = readPrefix(fields[0] as string);
    if (typeof prefix === "string") return tally.bad(prefix, { line }, text);
    const place = readPlace(fields, places);
    if (typeof place === "string") return tally.bad(place, { line }, text);
    if (fields.length < fieldCount) short.add(line);
    if (fields.length > fieldCount) long.add(line);
    const key = formatPrefix(prefix);
    const known = found.get(key);
    if (known === undefined) found.set(key, { prefix, place });
    else if (known.place === place) tally.leaveOut("appears more than once, with the same location", { line }, text);
    else tally.bad("appears more than once, with different locations; the first one was kept", { line }, text);
  });

  tally.accepted = found.size;
  tally.judge(file, badRecordsMax, "geofeed entries", { line: Math.max(1, lines) });
  if (!ended) throw cutLine(file, lines);
  const records = [...found.values()];
  const ipv4 = records.reduce((count, { prefix }) => count + (prefix.version === 4 ? 1 : 0), 0);
  return {
    records,
    report: {
      bytes: meter.bytes,
      seconds: meter.seconds(),
      read: tally.read,
      accepted: tally.accepted,
      skipped: tally.skipped(),
      asOf,
      notes: [...short.notes(), ...long.notes(), ...texts.notes()],
      kinds: { "IPv4 prefixes": ipv4, "IPv6 prefixes": records.length - ipv4 },
    },
  };
}

/** Lines that are read and deviate from the format. */
class NotedLines {
  readonly #what: string;
  #count = 0;
  readonly #first: number[] = [];

  constructor(what: string) {
    this.#what = what;
  }

  add(line: number): void {
    this.#count++;
    if (this.#first.length < linesNamedMax) this.#first.push(line);
  }

  notes(): string[] {
    if (this.#count === 0) return [];
    const rest = this.#count > this.#first.length ? ", …" : "";
    return [`${this.#what}: ${this.#count} (line ${this.#first.join(", ")}${rest})`];
  }
}

/** Unix seconds of a comment such as `# lastupdated (rfc3339): 2026-08-22T16:53:12+00:00`; null for any other. */
function updatedAt(comment: string): number | null {
  const words = /\blast[ _-]?updated\b(.*)$/i.exec(comment)?.[1]?.split(/\s+/) ?? [];
  const time = words.map((word) => timestampForm.exec(word)).find((match) => match !== null);
  if (time === undefined || readCalendarDate(`${time[1]}${time[2]}${time[3]}`) === null) return null;
  const ms = Date.parse(`${time[1]}-${time[2]}-${time[3]}T${time[4]}${time[5]}`);
  return Number.isNaN(ms) ? null : ms / 1000;
}

/** Answers what is wrong as text. */
function readPrefix(text: string): Prefix | string {
  const reading = parsePrefix(text);
  if (!reading.ok && reading.fault === "host-bits") return "the prefix has host bits set";
  const prefix = reading.ok ? reading.prefix : hostPrefix(text);
  if (prefix === null) return "the first field is not a prefix or an address";
  const min = lengthMin[prefix.version];
  return prefix.length < min ? `the prefix is larger than a /${min}, which no network has` : prefix;
}

function hostPrefix(text: string): Prefix | null {
  const address = parseAddress(text);
  if (address === null) return null;
  const { version, w0, w1, w2, w3 } = address;
  return makePrefix(version, w0, w1, w2, w3, version === 4 ? 32 : 128);
}

/** The place of a line, one object for equal ones; null: none. Answers what is wrong as text. */
function readPlace(
  [, alpha2 = "", subdivision = "", cityText = ""]: readonly string[],
  places: Map<string, PlaceNames>,
): PlaceNames | null | string {
  const code = alpha2.toUpperCase();
  const region = subdivision.toUpperCase();
  const city = readName(cityText);
  if (code !== "" && code !== nowhere && !isCountry(code)) return "the country is not a code of ISO 3166-1";
  if (region !== "" && !(/^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(region) && isCountry(region.slice(0, 2))))
    return "the region is not a code of ISO 3166-2, such as NL-NH";
  if (city === null) return `the city has control characters or more than ${nameLettersMax} letters`;
  if (code === nowhere && (region !== "" || city !== "")) return "the country is ZZ (no location), and there is a region or a city";
  if (code === nowhere || (code === "" && region === "" && city === "")) return null;
  // A subdivision's code begins with that of its country.
  const country = code === "" ? region.slice(0, 2) : code;
  if (region !== "" && region.slice(0, 2) !== country) return "the region is not in the country";
  const key = JSON.stringify([country, region, city]);
  const known = places.get(key);
  if (known !== undefined) return known;
  const place: PlaceNames = { country: country || null, region: region || null, city: city || null };
  places.set(key, place);
  return place;
}
