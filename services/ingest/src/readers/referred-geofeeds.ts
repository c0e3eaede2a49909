/** Reader of a registry dump and of the geofeeds that it refers to (RFC 9632): the locations of the addresses for which each geofeed counts. */

import { formatPrefix } from "@netfacts/address";
import type { PlaceNames, SectionRecord } from "@netfacts/snapshot";
import { inFairOrder } from "../assembly/fair-order.ts";
import { partsWithin, rangesByUrl, type Segments } from "../assembly/referred-ranges.ts";
import { feedRecordsMax, readFeedEntries } from "./feed-entries.ts";
import { isCovered, notCovered } from "./location-fields.ts";
import { type ReaderReport, type SkippedRecords, type SourceContent, Tally } from "./reader-report.ts";
import { readGeofeedReferences } from "./rpsl-references.ts";

type LocationRecord = SectionRecord<"locations">;

/** A geofeed that a dump refers to, as it was last fetched. */
export interface ReferredFeed {
  readonly url: string;
  /** Absolute path of the last valid version; null: there is none. */
  readonly path: string | null;
  readonly sha256: string | null;
  /** Why the newest version is not used; null: it is used. */
  readonly error: string | null;
  /** Counts of the version at `path`, as in `readFeedEntries`; absent: unknown. */
  readonly entries?: number;
  readonly effort?: number;
}

/** Most records of all geofeeds together, about 350 bytes each; also the most effort to read them. */
const recordsMaxOfAll = 2_000_000;
const failuresNamedMax = 10;

/**
 * Reads locations by the rules of RFC 9632: an entry counts only for addresses of ranges that refer to its geofeed, and not for those of a more
 * specific range that refers to another one. Within a geofeed the most specific entry counts; if two are equal, the first.
 *
 * A fault of a geofeed never fails the source, but is in the report. Signatures are read as comments; they are counted and not verified. If there is
 * no room for all, the largest geofeeds of the largest hosts are left out (`inFairOrder`), and the report names them.
 *
 * @param recordsMax  most records of all geofeeds together, and most effort to read them.
 * @throws the errors of `readGeofeedReferences`.
 */
export async function readReferredGeofeeds(
  content: SourceContent,
  feeds: readonly ReferredFeed[],
  recordsMax = recordsMaxOfAll,
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
  const readable: (ReferredFeed & { readonly path: string; readonly weight: number; readonly segments: Segments })[] = [];
  for (const [url, segments] of [...ranges].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const feed = known.get(url);
    if (feed === undefined || feed.error !== null) failures.push(`${url}: ${feed?.error ?? "was not fetched"}`);
    if (feed?.path == null) continue;
    const { entries = feedRecordsMax, effort = 0, path } = feed;
    readable.push({ ...feed, path, segments, weight: Math.max(entries, effort) + segments[4].length + segments[6].length });
  }
  let effortLeft = recordsMax;
  for (const feed of inFairOrder(readable)) {
    const { url, path, effort = 0 } = feed;
    try {
      if (effort > effortLeft) throw new Error(leftOut(recordsMax));
      effortLeft -= effort;
      const found = await readFeed(feed, content.covers);
      if (feed.effort === undefined) effortLeft -= found.effort;
      if (records.length + found.records.size > recordsMax) throw new Error(leftOut(recordsMax));
      for (const { prefix, place } of found.records.values()) records.push({ prefix, place: shared(place, places) });
      tally.join(found.skipped, ` (${url})`);
      used++;
      if (found.isSigned) signed++;
    } catch (error) {
      failures.push(`${url}: ${(error as Error).message.replace(path, "the kept copy")}`);
    }
  }
  tally.accepted = records.length;
  const skipped = tally.skipped();
  const ipv4 = records.reduce((count, { prefix }) => count + (prefix.version === 4 ? 1 : 0), 0);
  const notes = [`references to geofeeds: ${references.length}, to ${ranges.size} URLs, of which ${used} are used`];
  if (signed > 0) notes.push(`signed geofeeds, whose signatures were not verified: ${signed}`);
  for (const [reason, count] of refused) notes.push(`references that are not followed, as ${reason}: ${count}`);
  if (failures.length > 0) {
    failures.sort();
    const rest = failures.length > failuresNamedMax ? "; …" : "";
    notes.push(`geofeeds without a usable newest version: ${failures.length}: ${failures.slice(0, failuresNamedMax).join("; ")}${rest}`);
  }
  return {
    records,
    report: {
      bytes: meter.bytes,
      seconds: meter.seconds(),
      // One entry can become several records, or none.
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

function leftOut(recordsMax: number): string {
  return `is left out: the geofeeds of a source have room for ${recordsMax} prefixes, and smaller ones go first`;
}

interface FeedReading {
  readonly records: ReadonlyMap<string, LocationRecord>;
  readonly skipped: readonly SkippedRecords[];
  readonly isSigned: boolean;
  readonly effort: number;
}

async function readFeed(
  { path, segments }: { readonly path: string; readonly segments: Segments },
  covers: SourceContent["covers"],
): Promise<FeedReading> {
  const { entries, skipped, isSigned, effort } = await readFeedEntries(path);
  const tally = new Tally();
  // Longer entries replace the parts that they share with shorter ones.
  entries.sort((a, b) => a.record.prefix.length - b.record.prefix.length);
  const records = new Map<string, LocationRecord>();
  for (const { record, line, text } of entries) {
    let isUsed = false;
    for (const prefix of partsWithin(record.prefix, segments)) {
      isUsed = true;
      if (!isCovered(prefix, covers)) {
        tally.leaveOut(notCovered, { line }, text);
        continue;
      }
      records.set(formatPrefix(prefix), { prefix, place: record.place });
      if (records.size > feedRecordsMax) throw new Error(`has more than ${feedRecordsMax} prefixes that count`);
    }
    if (!isUsed) tally.leaveOut("is outside of the ranges for which the geofeed counts", { line }, text);
  }
  return { records, skipped: [...skipped, ...tally.skipped()], isSigned, effort };
}

function shared(place: PlaceNames | null, places: Map<string, PlaceNames>): PlaceNames | null {
  if (place === null) return null;
  const key = JSON.stringify(place);
  const known = places.get(key) ?? place;
  places.set(key, known);
  return known;
}
