/** Reader of a stranger's geofeed (RFC 8805): its memory and time are bounded, whatever the file contains. */

import { formatPrefix } from "@netfacts/address";
import { openContent } from "@netfacts/content";
import type { PlaceNames, SectionRecord } from "@netfacts/snapshot";
import { boundedContent } from "./bounded-content.ts";
import { geofeedEntryOf, withoutComment } from "./geofeed.ts";
import { forEachLine } from "./lines.ts";
import { ReadableText } from "./readable-text.ts";
import { type SkippedRecords, Tally } from "./reader-report.ts";

/** The largest ones have about 300,000 entries in 20 MB. */
export const feedBytesMax = 32 << 20;
export const feedRecordsMax = 400_000;
export const feedReadSecondsMax = 30;
/** Lines and bytes that may be read for each allowed record: valid lines, invalid ones, and comments. */
const linesPerRecord = 4;
const bytesPerRecord = 512;
const fieldCount = 5;

export interface FeedEntry {
  readonly record: SectionRecord<"locations">;
  readonly line: number;
  readonly text: string;
}

export interface FeedEntries {
  /** Each prefix appears once. */
  readonly entries: FeedEntry[];
  /** Lines that are not entries, which RFC 8805 §2.1 says to ignore, and repeated ones. */
  readonly skipped: readonly SkippedRecords[];
  readonly isSigned: boolean;
  /** The effort of reading the file, as a number of records. */
  readonly effort: number;
}

/**
 * Reads the entries of a geofeed. Many files have no line break after their last line: such a line counts if it has all five fields. A line that
 * repeats a prefix is left out if it has the same place, and is invalid if it has another one (docs/design/semantics.md#location).
 *
 * @throws Error for a file that is not a geofeed: it has no entry, or most of its lines are invalid. Reading ends as soon as this is certain: with
 * more than 400,000 invalid or as many repeated lines, since no more entries are allowed, or with more than 1,600,000 lines of any kind.
 *
 * Cost: about 600 bytes an entry; invalid lines take no memory.
 */
export async function readFeedEntries(path: string): Promise<FeedEntries> {
  const { stream } = openContent(path);
  const content = { file: path, chunks: stream, bytesMax: feedBytesMax, secondsMax: feedReadSecondsMax, badRecordsMax: 1 };
  const { chunks, meter } = boundedContent(content);
  const entries = new Map<string, FeedEntry>();
  const tally = new Tally();
  const texts = new ReadableText();
  let firstBad: { readonly reason: string; readonly line: number } | null = null;
  let bad = 0;
  let repeated = 0;
  let isSigned = false;
  let read = 0;
  let last = { text: "", key: "", line: 0 };
  const addBad = (reason: string, line: number, text: string) => {
    tally.bad(reason, { line }, text);
    firstBad ??= { reason, line };
    if (++bad > feedRecordsMax) throw noGeofeed(`more than ${feedRecordsMax}`, firstBad);
  };
  const { lines, ended } = await forEachLine(
    path,
    chunks,
    (bytes, start, end, line) => {
      if (line > linesPerRecord * feedRecordsMax) throw new Error(`has more than ${linesPerRecord * feedRecordsMax} lines`);
      if (start === end || (isSigned && bytes[start] === hash)) return;
      const text = texts.decode(bytes.subarray(start, end), line === 1);
      isSigned ||= /^#\s*RPKI Signature:/i.test(text);
      const content = withoutComment(text);
      if (content.trim() === "") return;
      read++;
      const record = geofeedEntryOf(content);
      if (typeof record === "string") return addBad(record, line, text);
      const key = formatPrefix(record.prefix);
      const known = entries.get(key);
      if (known !== undefined && isSamePlace(known.record.place, record.place)) {
        if (++repeated > feedRecordsMax) throw new Error(`repeats prefixes in more than ${feedRecordsMax} lines`);
        return tally.leaveOut("appears more than once, with the same location", { line }, text);
      }
      if (known !== undefined) return addBad("appears more than once, with different locations; the first one was kept", line, text);
      if (entries.size === feedRecordsMax) throw new Error(`has more than ${feedRecordsMax} entries`);
      entries.set(key, { record, line, text });
      last = { text, key, line };
    },
    "skip",
  );
  if (!ended && last.line === lines && last.text.split(",").length < fieldCount) {
    entries.delete(last.key);
    addBad("is truncated: the last line has no line break, and fewer than five fields", lines, last.text);
  }
  if (firstBad !== null && (entries.size === 0 || bad > read / 2)) throw noGeofeed(`${bad} of ${read}`, firstBad);
  if (entries.size === 0) throw new Error("has no geofeed entries");
  const effort = Math.ceil(Math.max(lines / linesPerRecord, meter.bytes / bytesPerRecord));
  return { entries: [...entries.values()], skipped: tally.skipped(), isSigned, effort };
}

const hash = 0x23;

function isSamePlace(a: PlaceNames | null, b: PlaceNames | null): boolean {
  return a?.country === b?.country && a?.region === b?.region && a?.city === b?.city;
}

function noGeofeed(count: string, { line, reason }: { readonly line: number; readonly reason: string }): Error {
  return new Error(`is no geofeed: ${count} lines are invalid; line ${line}: ${reason}`);
}
