/** Reader of a registry dump and of the geofeeds that it refers to (RFC 9632): the locations of the addresses for which each geofeed counts. */

import { formatPrefix } from "@netfacts/address";
import { openContent } from "@netfacts/content";
import type { PlaceNames, SectionRecord } from "@netfacts/snapshot";
import { partsWithin, type RangesByUrl, rangesByUrl } from "../assembly/referred-ranges.ts";
import { boundedContent } from "./bounded-content.ts";
import { geofeedEntryOf, withoutComment } from "./geofeed.ts";
import { forEachLine } from "./lines.ts";
import { isCovered, notCovered } from "./location-fields.ts";
import { type ReaderReport, type SourceContent, Tally } from "./reader-report.ts";
import { readGeofeedReferences } from "./rpsl-references.ts";

type LocationRecord = SectionRecord<"locations">;

/** A geofeed that a dump refers to, as it was last fetched. */
export interface ReferredFeed {
  readonly url: string;
  /** Absolute path of the last version that is a geofeed; null: there is none. */
  readonly path: string | null;
  readonly sha256: string | null;
  /** Why the newest version is not used; null: it is. */
  readonly error: string | null;
}

/** Of one geofeed. The largest have some 300,000 entries in 20 MB. */
export const feedBytesMax = 32 << 20;
const feedSecondsMax = 30;
const feedRecordsMax = 400_000;
/** Of all together, some 350 bytes each. */
const recordsMax = 2_000_000;
const fieldCount = 5;
const failuresNamedMax = 10;

/**
 * Locations by the rules of RFC 9632: an entry counts only for addresses of ranges that refer to its geofeed, and not for those of a more specific range
 * that refers to another one. Within a geofeed the most specific entry counts, and of equal ones the first.
 *
 * What is wrong with a geofeed never fails the source: the report tells it. Signatures are comments here; they are counted and not verified.
 *
 * Throws what `readGeofeedReferences` throws.
 */
export async function readReferredGeofeeds(
  content: SourceContent,
  feeds: readonly ReferredFeed[],
): Promise<{ records: LocationRecord[]; report: ReaderReport }> {
  const { references, objects, refused, meter } = await readGeofeedReferences(content);
  const ranges = rangesByUrl(references);
  const tally = new Tally();
  const records: LocationRecord[] = [];
  const places = new Map<string, PlaceNames>();
  const known = new Map(feeds.map((feed) => [feed.url, feed]));
  const failures: string[] = [];
  let used = 0;
  let signed = 0;
  for (const url of [...ranges.keys()].sort()) {
    const feed = known.get(url);
    if (feed === undefined || feed.error !== null) failures.push(`${url}: ${feed?.error ?? "was not fetched"}`);
    if (feed?.path == null) continue;
    try {
      const found = await readFeed({ ...feed, path: feed.path }, { content, ranges, tally, places, room: recordsMax - records.length });
      for (const record of found.records) records.push(record);
      used++;
      if (found.isSigned) signed++;
    } catch (error) {
      failures.push(`${url}: ${(error as Error).message.replace(`${feed.path}`, "the kept copy")}`);
    }
  }
  tally.accepted = records.length;
  const skipped = tally.skipped();
  const ipv4 = records.reduce((count, { prefix }) => count + (prefix.version === 4 ? 1 : 0), 0);
  const notes = [`references to geofeeds: ${references.length}, to ${ranges.size} URLs, of which ${used} are used`];
  if (signed > 0) notes.push(`signed geofeeds, whose signatures were not verified: ${signed}`);
  for (const [reason, count] of refused) notes.push(`references that are not followed, as ${reason}: ${count}`);
  if (failures.length > 0) {
    const rest = failures.length > failuresNamedMax ? "; …" : "";
    notes.push(`geofeeds without a usable newest version: ${failures.length}: ${failures.slice(0, failuresNamedMax).join("; ")}${rest}`);
  }
  return {
    records,
    report: {
      bytes: meter.bytes,
      seconds: meter.seconds(),
      // One entry may become several records, or none.
      read: records.length + skipped.reduce((sum, { count }) => sum + count, 0),
      accepted: records.length,
      skipped,
      asOf: null,
      notes,
      kinds: {
        "inetnum objects": objects.ipv4,
        "inet6num objects": objects.ipv6,
        "IPv4 prefixes": ipv4,
        "IPv6 prefixes": records.length - ipv4,
      },
    },
  };
}

interface FeedContext {
  readonly content: Pick<SourceContent, "covers">;
  readonly ranges: RangesByUrl;
  readonly tally: Tally;
  readonly places: Map<string, PlaceNames>;
  /** Records that there is room for. */
  readonly room: number;
}

async function readFeed(
  { url, path }: ReferredFeed & { readonly path: string },
  { content: { covers }, ranges, tally, places, room }: FeedContext,
): Promise<{ records: Iterable<LocationRecord>; isSigned: boolean }> {
  const segments = ranges.get(url) ?? { 4: [], 6: [] };
  const { entries, bad, isSigned } = await readFeedEntries(path);
  for (const { reason, line, text } of bad) {
    tally.bad(reason, { line }, `${text} (${url})`);
  }
  // Longer entries replace the parts that they share with shorter ones.
  entries.sort((a, b) => a.record.prefix.length - b.record.prefix.length);
  const found = new Map<string, LocationRecord>();
  for (const { record, line, text } of entries) {
    let isUsed = false;
    for (const prefix of partsWithin(record.prefix, segments)) {
      isUsed = true;
      if (!isCovered(prefix, covers)) {
        tally.leaveOut(notCovered, { line }, `${text} (${url})`);
        continue;
      }
      found.set(formatPrefix(prefix), { prefix, place: shared(record.place, places) });
      if (found.size > Math.min(room, feedRecordsMax))
        throw new Error(`has more than ${Math.min(room, feedRecordsMax)} prefixes that count`);
    }
    if (!isUsed) tally.leaveOut("is outside of the ranges for which the geofeed counts", { line }, `${text} (${url})`);
  }
  return { records: found.values(), isSigned };
}

interface FeedEntry {
  readonly record: LocationRecord;
  readonly line: number;
  readonly text: string;
}

interface FeedEntries {
  /** Without repetition of a prefix. */
  readonly entries: FeedEntry[];
  /** Lines that are no entries, as RFC 8805 §2.1 has them ignored. */
  readonly bad: readonly { readonly reason: string; readonly line: number; readonly text: string }[];
  readonly isSigned: boolean;
}

/**
 * The entries of a geofeed (RFC 8805). Many have no break behind their last line: it counts if it has all five fields.
 *
 * Throws an error for a file that is no geofeed: one without any entry, or in which most lines are none.
 */
export async function readFeedEntries(path: string): Promise<FeedEntries> {
  const { stream } = openContent(path);
  const { chunks } = boundedContent({ file: path, chunks: stream, bytesMax: feedBytesMax, secondsMax: feedSecondsMax, badRecordsMax: 1 });
  const entries = new Map<string, FeedEntry>();
  const bad: { reason: string; line: number; text: string }[] = [];
  let isSigned = false;
  let read = 0;
  let last: { readonly text: string; readonly key: string | null } = { text: "", key: null };
  const { lines, ended } = await forEachLine(
    path,
    chunks,
    (bytes, start, end, line) => {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start)
        .toString("utf8")
        .replace(/^\ufeff/, "");
      if (text.startsWith("#")) isSigned ||= /^#\s*RPKI Signature:/i.test(text);
      last = { text, key: null };
      const content = withoutComment(text);
      if (content.trim() === "") return;
      read++;
      const record = geofeedEntryOf(content);
      if (typeof record === "string") return void (bad.length < feedRecordsMax && bad.push({ reason: record, line, text }));
      const key = formatPrefix(record.prefix);
      if (entries.has(key)) return void bad.push({ reason: "appears more than once; the first one was kept", line, text });
      if (entries.size === feedRecordsMax) throw new Error(`has more than ${feedRecordsMax} entries`);
      entries.set(key, { record, line, text });
      last = { text, key };
    },
    "skip",
  );
  if (!ended && last.key !== null && last.text.split(",").length < fieldCount) {
    entries.delete(last.key);
    bad.push({ reason: "is truncated: the last line has no line break, and fewer than five fields", line: lines, text: last.text });
  }
  if (entries.size === 0 || bad.length > read / 2)
    throw new Error(
      bad[0] === undefined
        ? "has no geofeed entries"
        : `is no geofeed: ${bad.length} of ${read} lines are invalid; line ${bad[0].line}: ${bad[0].reason}`,
    );
  return { entries: [...entries.values()], bad, isSigned };
}

function shared(place: PlaceNames | null, places: Map<string, PlaceNames>): PlaceNames | null {
  if (place === null) return null;
  const key = JSON.stringify(place);
  const known = places.get(key) ?? place;
  places.set(key, known);
  return known;
}
