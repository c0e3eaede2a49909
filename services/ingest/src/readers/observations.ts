/** Readers of observations, which say where an address or a prefix was at a time: a JSON object in each line, or CSV. */

import type { Prefix } from "@netfacts/address";
import { type Observation, ObservationList } from "../assembly/observation-list.ts";
import { boundedContent } from "./bounded-content.ts";
import { cutLine, forEachLine } from "./lines.ts";
import { isCovered, notCovered, type PlaceReading, readLocatedPrefix, readPlaceNames } from "./location-fields.ts";
import { readRows } from "./named-columns.ts";
import { ReadableText } from "./readable-text.ts";
import { type ReaderReport, type SourceContent, SourceError, Tally } from "./reader-report.ts";
import { readTimestamp } from "./timestamp.ts";

export const observationMembers = [
  "ip",
  "prefix",
  "lat",
  "lon",
  "accuracy_km",
  "country",
  "region",
  "city",
  "observed_at",
  "method",
] as const;
type Member = (typeof observationMembers)[number];
type Row = Readonly<Partial<Record<Member, unknown>>>;

/** Half of the earth's circumference. */
const accuracyMaxKm = 20_038;

/**
 * Reads lines such as `{"ip": "192.0.2.1", "lat": 52.37, "lon": 4.9, "accuracy_km": 10, "observed_at": "2026-11-20T22:14:05Z"}`. Blank lines are
 * ignored. The time of the file is that of its newest observation.
 *
 * @throws SourceError with the line for a file without observations, with more bad ones than allowed, with more distinct places or methods than an
 * `ObservationList` holds, or truncated within its last line.
 *
 * Cost: about 50 bytes an observation during the reading, and those of its distinct places.
 */
export async function readObservations(content: SourceContent): Promise<{ observations: ObservationList; report: ReaderReport }> {
  const { file, badRecordsMax, covers, latestTime = Number.POSITIVE_INFINITY } = content;
  const { chunks, meter } = boundedContent(content);
  const tally = new Tally();
  const texts = new ReadableText();
  const observations = new ObservationList();
  const { lines, ended } = await forEachLine(file, chunks, (bytes, start, end, line) => {
    const text = texts.decode(bytes.subarray(start, end), line === 1);
    if (text.trim() === "") return;
    tally.read++;
    const read = observationOfJson(text, latestTime);
    if (typeof read === "string") return tally.bad(read, { line }, text);
    if (!isCovered(read.prefix, covers)) return tally.leaveOut(notCovered, { line }, text);
    addTo(observations, read, file, line);
    tally.accepted++;
  });
  tally.judge(file, badRecordsMax, "observations", { line: Math.max(1, lines) });
  if (!ended) throw cutLine(file, lines);
  if (observations.size === 0) throw new SourceError(file, { line: 1 }, "has no observations");
  return {
    observations,
    report: {
      bytes: meter.bytes,
      seconds: meter.seconds(),
      read: tally.read,
      accepted: tally.accepted,
      skipped: tally.skipped(),
      asOf: observations.newest,
      notes: texts.notes(),
      kinds: { votes: observations.voteCount() },
    },
  };
}

/**
 * Reads the same members as columns, in any order, by the names in the first line. An empty field means none. Lines that begin with `#` are ignored.
 * Otherwise as `readObservations`.
 */
export async function readObservationsCsv(content: SourceContent): Promise<{ observations: ObservationList; report: ReaderReport }> {
  const { file, covers, latestTime = Number.POSITIVE_INFINITY } = content;
  const observations = new ObservationList();
  const columns = {
    what: "observations",
    required: ["observed_at"],
    optional: observationMembers.filter((name) => name !== "observed_at"),
  };
  const report = await readRows(content, columns, (row, line) => {
    const read = observationOfFields(row, latestTime);
    if (typeof read === "string") return read;
    if (!isCovered(read.prefix, covers)) return { leftOut: notCovered };
    addTo(observations, read, file, line);
    return false;
  });
  return { observations, report: { ...report, asOf: observations.newest, kinds: { votes: observations.voteCount() } } };
}

function addTo(observations: ObservationList, observation: Observation, file: string, line: number): void {
  const full = observations.add(observation);
  if (full !== null) throw new SourceError(file, { line }, full);
}

/** Reads one line of JSON; returns text to say what is wrong. @param latestTime  Unix seconds; a later observation is wrong */
export function observationOfJson(text: string, latestTime: number): Observation | string {
  const row = parsed(text);
  return typeof row === "string" ? row : observationOf(row, latestTime);
}

/** The same for fields of CSV, by the name of their column. */
export function observationOfFields(fields: Readonly<Record<string, string>>, latestTime: number): Observation | string {
  return observationOf(rowOfTexts(fields), latestTime);
}

/** Fields of CSV with the types of JSON. */
function rowOfTexts(fields: Readonly<Record<string, string>>): Row {
  const jsonOf = (name: string, text: string) => {
    if (text === "") return null;
    const isNumber = ["lat", "lon", "accuracy_km"].includes(name) && /^-?\d+(?:\.\d+)?$/.test(text);
    return isNumber ? Number(text) : text;
  };
  return Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, jsonOf(name, text)]));
}

/** Returns text to say what is wrong. */
function observationOf(row: Row, latestTime: number): Observation | string {
  const prefix = readResource(row);
  if (typeof prefix === "string") return prefix;
  const place = readNames(row);
  if (typeof place === "string") return place;
  const coordinates = readCoordinates(row);
  if (typeof coordinates === "string") return coordinates;
  if (coordinates.latitude === null && (place?.country ?? null) === null) return "has neither coordinates nor a country";
  const observedAt = typeof row.observed_at === "string" ? readTimestamp(row.observed_at) : null;
  if (observedAt === null || observedAt < 0) return "observed_at is not a time of RFC 3339, such as 2026-11-20T22:14:05Z";
  if (observedAt > latestTime) return "observed_at is in the future";
  const method = row.method ?? null;
  if (method !== null && !(typeof method === "string" && /^[a-z][a-z0-9_-]{0,39}$/.test(method)))
    return "method is not one word of lowercase letters, digits, underscores and hyphens";
  const { country = null, region = null, city = null } = place ?? {};
  return { prefix, country, region, city, ...coordinates, observedAt: Math.floor(observedAt), method };
}

function parsed(line: string): Row | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "is not JSON";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "is not a JSON object";
  const unknown = Object.keys(value).some((name) => !(observationMembers as readonly string[]).includes(name));
  if (unknown) return `has an unknown member; an observation has ${observationMembers.join(", ")}`;
  const twice = memberTwice(line, Object.keys(value).length);
  return twice === null ? (value as Row) : `${twice} appears twice`;
}

/** A member that the object of a line has twice: where bytes are missing, one object may have the members of two. @param line  JSON */
function memberTwice(line: string, members: number): string | null {
  // Not fewer than the names: text may have the same characters.
  if (line.match(/"\s*:/g)?.length === members) return null;
  const names = line.match(/"(?:[^"\\]|\\.)*"(?=\s*:)/g) ?? [];
  const seen = new Set<string>();
  return names.map((name) => JSON.parse(name) as string).find((name) => seen.size === seen.add(name).size) ?? null;
}

function readResource({ ip, prefix }: Row): Prefix | string {
  const text = ip ?? prefix ?? null;
  if (typeof text !== "string" || (ip != null && prefix != null)) return "has not one of ip and prefix";
  if (ip != null && text.includes("/")) return "ip is not an address; a prefix belongs into prefix";
  return readLocatedPrefix(text);
}

function readNames({ country, region, city }: Row): PlaceReading {
  const fields = [country ?? "", region ?? "", city ?? ""];
  if (!fields.every((field) => typeof field === "string")) return "country, region and city are not all text";
  const [alpha2 = "", subdivision = "", name = ""] = fields as string[];
  return readPlaceNames(alpha2, subdivision, name);
}

function readCoordinates({ lat, lon, accuracy_km }: Row): Pick<Observation, "latitude" | "longitude" | "accuracyKm"> | string {
  const within = (value: unknown, max: number): value is number => typeof value === "number" && Math.abs(value) <= max;
  const accuracyKm = accuracy_km ?? null;
  if (accuracyKm !== null && !(within(accuracyKm, accuracyMaxKm) && accuracyKm >= 0))
    return `accuracy_km is not a number from 0 to ${accuracyMaxKm}`;
  if (lat == null && lon == null) return { latitude: null, longitude: null, accuracyKm };
  if (!within(lat, 90) || !within(lon, 180)) return "lat and lon are not both numbers, from -90 to 90 and from -180 to 180";
  // Programs that know nothing write 0, 0, which is a place in the sea.
  if (lat === 0 && lon === 0) return "lat and lon are both 0, which is how programs write that they do not know";
  return { latitude: lat, longitude: lon, accuracyKm };
}
