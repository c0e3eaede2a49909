/** Dates of sources that are wrong or surprising: those in the future, and those before the last import. */

import { statSync } from "node:fs";
import { timestamp } from "@netfacts/contracts";
import type { Manifest, SourceEntry } from "@netfacts/snapshot";
import { type ReaderReport, SourceError } from "../readers/reader-report.ts";
import { isStanding, type SourceConfig, sectionOf } from "../sources/index.ts";
import type { ListedSource } from "./listed-sources.ts";
import type { Run } from "./run.ts";

/** A registry's day begins up to so many seconds before that of UTC, in which its header is read. */
const dayZoneSeconds = 14 * 3600;

/** The time of a source's data. */
export interface SourceDate {
  /** RFC 3339. */
  readonly asOf: string;
  /** Whether the file itself says so. False for an RTR session, which is dated by the clock of this machine: it may have been set back. */
  readonly isTold: boolean;
  /** Warning about a date in the future that `future_dates: warn` allows: `asOf` is then when the file was written. Null: there is none. */
  readonly warning: string | null;
}

/** What is wrong with a time of a source; null: it does not lie in the future. */
export function futureText({ clockSkewMaxSeconds: skew, format }: SourceConfig, seconds: number, what: string): string | null {
  const ahead = seconds - Date.now() / 1000 - (format === "delegated" ? dayZoneSeconds : 0);
  if (ahead <= skew) return null;
  return `${what} ${timestamp(seconds * 1000)} is in the future by more than clock_skew_max (${skew} s)`;
}

/**
 * The time of a source's data: as the file says, else `as_of`, else when the file was last written. A date in the future that is allowed is removed from
 * the report, so that this source is not taken for the newest.
 *
 * @throws SourceError for a date in the future that is not allowed, and for one before 1970.
 */
export function dateOf(source: SourceConfig, report: ReaderReport): SourceDate {
  const written = () => {
    const seconds = statSync(source.location).mtimeMs / 1000;
    // Ingest wrote this file itself. If its time is in the future, the clock was ahead then, and no operator can correct the file.
    const isOwn = source.fetched !== undefined || source.isFollowed === true;
    return isOwn ? Math.min(seconds, Date.now() / 1000) : seconds;
  };
  const [seconds, what] =
    report.asOf !== null
      ? [report.asOf, "the time of its data"]
      : source.asOf !== null
        ? [source.asOf, "its as_of in sources.yaml"]
        : [written(), "the time at which the file was written"];
  // The id of a snapshot cannot express it, and no data are so old.
  if (seconds < 0) throw new SourceError(source.location, null, `${what} ${timestamp(seconds * 1000)} is before 1970`);
  const future = futureText(source, Math.max(seconds, report.latestAt ?? 0), what);
  const isTold = report.asOf !== null && source.format !== "rtr";
  if (future === null) return { asOf: timestamp(seconds * 1000), isTold, warning: null };
  if (source.futureDates === "refuse") throw new SourceError(source.location, null, `${future}; if it is right, set future_dates: warn`);
  report.asOf = null;
  report.notes.push(`${future}; the data are dated by the file, and marked as stale`);
  return { asOf: timestamp(Math.min(written() * 1000, Date.now())), isTold: false, warning: future };
}

/** The time of the source's data in the last snapshot, or of those before the source failed; null: there were none. */
export function asOfBefore(source: SourceConfig, previous: PreviousSources): string | null {
  const entry = entryBefore(source, previous);
  return entry?.as_of ?? entry?.as_of_before ?? null;
}

/** The last date that a file of the source told itself; null: none did, or it is not known. */
export function toldBefore(source: SourceConfig, previous: PreviousSources): string | null {
  return entryBefore(source, previous)?.as_of_told ?? null;
}

type PreviousSources = Pick<Manifest, "sections"> | null;

function entryBefore(source: SourceConfig, previous: PreviousSources): SourceEntry | undefined {
  return previous?.sections[sectionOf(source)]?.sources.find(({ name }) => name === source.name);
}

/**
 * A note on data that are older than those of the last import; null: they are not. A step back may be meant, so that it is only noted. It is refused
 * if the file itself gives a date that is older by more than `stale_after`. A date from a file is compared only with dates from files: the time at which
 * a file was written says nothing about its data.
 *
 * @throws SourceError for such old data, unless the run accepts them for its section.
 */
export function olderText(
  { previous, acceptShrink }: Pick<Run, "previous" | "acceptShrink">,
  source: ListedSource,
  { asOf, isTold }: SourceDate,
): string | null {
  const before = isTold ? toldBefore(source, previous) : asOfBefore(source, previous);
  if (isStanding(source.format) || before === null) return null;
  const seconds = (Date.parse(before) - Date.parse(asOf)) / 1000;
  if (seconds <= 0) return null;
  const text = `its data are of ${asOf}, older than those of the last import (${before})`;
  const { staleAfterSeconds: bound, section } = source;
  if (!isTold || bound === null || seconds <= bound || acceptShrink.includes(section)) return text;
  throw new SourceError(
    source.location,
    null,
    `${text} by more than stale_after (${bound} s); if that is meant, accept it for one run with --accept-shrink ${section}`,
  );
}
