/** Reader of geofeeds (RFC 8805), in which networks say where their prefixes are used. */

import type { PlaceNames, SectionRecord } from "@netfacts/snapshot";
import { boundedContent } from "./bounded-content.ts";
import { splitCsvLine } from "./csv.ts";
import { cutLine, forEachLine } from "./lines.ts";
import { isCovered, mapKey, notCovered, type PlaceReading, readLocatedPrefix, readPlaceNames } from "./location-fields.ts";
import { ReadableText } from "./readable-text.ts";
import { type ReaderReport, type SourceContent, SourceError, Tally } from "./reader-report.ts";
import { isTimestamp, readTimestamp } from "./timestamp.ts";

type LocationRecord = SectionRecord<"locations">;

/** Prefix, country, region, city and postal code. */
const fieldCount = 5;

/** The largest public geofeeds have about 300,000 entries. A file with many more fills memory, with about 270 bytes for each. */
const entriesMax = 2_000_000;

const linesNamedMax = 5;

/**
 * Reads lines `prefix,country,region,city,postal code`. Blank lines and comments are ignored, also a comment after a record. Missing fields at the
 * end of a line are empty; postal codes and further fields are dropped (RFC 8805 §2.1). A prefix whose fields are all empty, or whose country is
 * `ZZ`, is a record without a place. A comment `last updated … <time>` before the first record is the time of the file.
 *
 * If a prefix appears again, the first line stays. The later line is left out if it has the same place, and is bad if it has another one.
 *
 * @throws SourceError with the line for a file without records, without any comma (a list of prefixes would say that they have no location), with
 * more bad records than allowed, with more than two million, or truncated within its last line.
 *
 * Cost: about 270 bytes a record during the reading.
 */
export async function readGeofeed(content: SourceContent): Promise<{ records: LocationRecord[]; report: ReaderReport }> {
  const { file, badRecordsMax, covers } = content;
  const { chunks, meter } = boundedContent(content);
  const tally = new Tally();
  const texts = new ReadableText();
  const found = new Map<number | string, LocationRecord>();
  const places = new Places();
  const short = new NotedLines("lines with fewer than five fields, the others read as empty");
  const long = new NotedLines("lines with more than five fields, the others ignored");
  let asOf: number | null = null;
  let firstRecordLine: number | null = null;
  let hasCommas = false;

  const { lines, ended } = await forEachLine(file, chunks, (bytes, start, end, line) => {
    const whole = texts.decode(bytes.subarray(start, end), line === 1);
    const text = withoutComment(whole);
    if (text.trim() === "") {
      if (tally.read === 0) asOf ??= updatedAt(whole);
      return;
    }
    tally.read++;
    firstRecordLine ??= line;
    hasCommas ||= text.includes(",");
    const fields = splitCsvLine(text);
    if (fields === null) return tally.bad("a quote is not closed", { line }, text);
    const prefix = readLocatedPrefix(fields[0] as string);
    if (typeof prefix === "string") return tally.bad(prefix, { line }, text);
    if (!isCovered(prefix, covers)) return tally.leaveOut(notCovered, { line }, text);
    const place = places.read(fields);
    if (typeof place === "string") return tally.bad(place, { line }, text);
    if (fields.length < fieldCount) short.add(line);
    if (fields.length > fieldCount) long.add(line);
    const key = mapKey(prefix);
    const known = found.get(key);
    if (known === undefined && found.size === entriesMax) throw new SourceError(file, { line }, `has more than ${entriesMax} entries`);
    if (known === undefined) found.set(key, { prefix, place });
    else if (known.place === place) tally.leaveOut("appears more than once, with the same location", { line }, text);
    else tally.bad("appears more than once, with different locations; the first one was kept", { line }, text);
  });

  tally.accepted = found.size;
  tally.judge(file, badRecordsMax, "geofeed entries", { line: Math.max(1, lines) });
  if (!ended) throw cutLine(file, lines);
  if (!hasCommas)
    throw new SourceError(file, { line: firstRecordLine ?? 1 }, "no line has a comma: this is a list of prefixes, not a geofeed");
  const records = [...found.values()];
  const ipv4 = records.reduce((count, { prefix }) => count + (prefix.version === 4 ? 1 : 0), 0);
  const located = records.reduce((count, { place }) => count + (place === null ? 0 : 1), 0);
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
      kinds: { "IPv4 prefixes": ipv4, "IPv6 prefixes": records.length - ipv4, "prefixes with a location": located },
    },
  };
}

/** Lines that were read although they deviate from the format. */
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

/** Unix seconds in a comment such as `# lastupdated (rfc3339): 2026-08-22T16:53:12+00:00`; null for any other comment. */
function updatedAt(comment: string): number | null {
  const words = /\blast[ _-]?updated\b(.*)/is.exec(comment)?.[1]?.split(/\s+/) ?? [];
  const time = words.find((word) => isTimestamp(word));
  return time === undefined ? null : readTimestamp(time);
}

/** A line without its comment, which begins at a `#` outside of quotes (RFC 8805 §2.1). */
export function withoutComment(line: string): string {
  if (!line.includes("#")) return line;
  let isQuoted = false;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (line[at] === "#" && !isQuoted) return line.slice(0, at);
  }
  return line;
}

/** Reads one line without its comment; returns text to say what is wrong. */
export function geofeedEntryOf(text: string): LocationRecord | string {
  // A list of prefixes would say that they have no location.
  if (!text.includes(",")) return "has no comma: a geofeed has prefix,country,region,city,postal code";
  const fields = splitCsvLine(text);
  if (fields === null) return "a quote is not closed";
  const prefix = readLocatedPrefix(fields[0] as string);
  if (typeof prefix === "string") return prefix;
  const [, country = "", region = "", city = ""] = fields;
  const place = readPlaceNames(country, region, city);
  return typeof place === "string" ? place : { prefix, place };
}

/** The places of a file. Equal ones share one object. */
class Places {
  readonly #known = new Map<string, PlaceNames>();
  #lastFields: readonly [string, string, string] = ["", "", ""];
  #lastPlace: PlaceReading = null;

  /** The place of a line; null: none. Returns text to say what is wrong. Lines in a row often have the same place: it is read once. */
  read([, country = "", region = "", city = ""]: readonly string[]): PlaceReading {
    const [lastCountry, lastRegion, lastCity] = this.#lastFields;
    if (country === lastCountry && region === lastRegion && city === lastCity) return this.#lastPlace;
    this.#lastFields = [country, region, city];
    this.#lastPlace = this.#shared(readPlaceNames(country, region, city));
    return this.#lastPlace;
  }

  #shared(place: PlaceReading): PlaceReading {
    if (place === null || typeof place === "string") return place;
    const key = JSON.stringify(place);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    this.#known.set(key, place);
    return place;
  }
}
