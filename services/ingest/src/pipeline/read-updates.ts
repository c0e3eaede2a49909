/** The files of a collector's updates as a replay takes them, and what is told of them afterwards. */

import { basename } from "node:path";
import { timestamp } from "@netfacts/contracts";
import { MrtError } from "@netfacts/mrt";
import { boundedContent } from "../readers/bounded-content.ts";
import { type ReaderReport, type SkippedRecords, SourceError } from "../readers/reader-report.ts";
import { gapSecondsDefault, type ReplayInput, type UpdateFileCounts, type UpdatesReport } from "../replay/index.ts";
import type { SourceConfig } from "../sources/index.ts";
import { digestOfAll, filesSince, firstTimestamp, listUpdateFiles } from "../updates/update-files.ts";
import { futureText } from "./future-date.ts";
import { type BytesListener, nothingFetched, type OpenedSource, openSource, type StoredFile, storedSize } from "./open-source.ts";

/** Missing updates, in Unix seconds; `to` null: everything after `from`. */
export interface UpdatesGap {
  readonly from: number;
  readonly to: number | null;
}

/** Sessions begin while updates are collected, a few at a time. A file is another collector's if it has at least so many new peers … */
const newPeersMin = 3;
/** … and more than so many of them for each peer of the table. */
const newPeersPerKnownMax = 10;

/** What became of the updates of one table. */
export interface ReadUpdates {
  readonly report: ReaderReport;
  readonly stored: StoredFile;
  readonly gaps: readonly UpdatesGap[];
  readonly counts: UpdatesReport | null;
  readonly files: number;
  /** Why not all files were applied, and the file at which it ended, where it was one; null: they were. */
  readonly error: string | null;
  readonly refused: string | null;
}

/** Required updates that cannot be trusted, or are not there. `refused`: the file, where it is one. */
export class UpdatesError extends Error {
  override readonly name = "UpdatesError";
  readonly refused: string | null;

  constructor(message: string, refused: string | null, options?: { cause: unknown }) {
    super(message, options);
    this.refused = refused;
  }
}

/** Files of updates there may be: of a folder, or what was fetched. */
function candidatesOf({ location, fetch, updateFiles }: SourceConfig): readonly string[] {
  if (fetch !== undefined && updateFiles === undefined) throw new Error(`${location}: ${nothingFetched}`);
  return updateFiles?.files ?? listUpdateFiles(location);
}

/** The updates behind one table: which files, and how far they were read. */
export class UpdateFeed {
  readonly #source: SourceConfig;
  readonly #from: number;
  readonly #stored: StoredFile[] = [];
  #files: readonly string[];
  #bytes = 0;
  /** Time of the newest record; 0: there is none. */
  #newest = 0;
  /** A record lies in the future, which `future_dates: warn` lets pass. */
  #isFuture = false;
  #started = performance.now();
  #lasted = 0;
  #beganAt = 0;
  #fault: { readonly message: string; readonly file: string | null } | null = null;
  /** The file that is being read. */
  #current: string | null = null;
  #explained: OpenedSource["explained"] = (error) => error;

  /** @param ribLocation  the file of the table. @throws UpdatesError where they are required and there are none */
  static async open(source: SourceConfig, ribLocation: string): Promise<UpdateFeed> {
    const from = (await firstTimestamp(ribLocation)) ?? 0;
    try {
      const feed = new UpdateFeed(source, from, await filesSince(candidatesOf(source), from));
      const { refused } = source.updateFiles ?? {};
      if (refused !== undefined) feed.#fault = { message: refused.error, file: refused.file };
      const [missing] = feed.#missing();
      if (source.required && missing !== undefined) throw new Error(`${source.location}: there are no updates ${spanText(missing)}`);
      return feed;
    } catch (cause) {
      const message = (cause as NodeJS.ErrnoException).code === "ENOENT" ? `${source.location}: no such file` : (cause as Error).message;
      if (source.required) throw new UpdatesError(message, null, { cause });
      const feed = new UpdateFeed(source, from, []);
      feed.#fault = { message, file: null };
      return feed;
    }
  }

  private constructor(source: SourceConfig, from: number, files: readonly string[]) {
    this.#source = source;
    this.#from = from;
    this.#files = files;
  }

  get isEmpty(): boolean {
    return this.#files.length === 0;
  }

  /** A silence longer than this is a gap. Where the publisher's steps are known, so is what is missing. */
  get gapSeconds(): number {
    const { updateFiles, intervalSeconds } = this.#source;
    return updateFiles?.missing == null ? Math.max(gapSecondsDefault, intervalSeconds) : Number.POSITIVE_INFINITY;
  }

  /** Of all files, as they are stored. */
  storedBytes(): number {
    return this.#files.reduce((sum, file) => sum + (storedSize(file) ?? 0), 0);
  }

  /** Each file when it is its turn, telling the bytes of all so far; to be asked for anew at each replay. */
  async *inputs(onBytes: BytesListener, signal?: AbortSignal): AsyncGenerator<ReplayInput> {
    const { bytesMax, secondsMax } = this.#source;
    this.#started = performance.now();
    this.#stored.length = 0;
    this.#bytes = 0;
    this.#beganAt = 0;
    this.#newest = 0;
    let before = 0;
    for (const location of this.#files) {
      this.#current = location;
      const start = before;
      const bounds = { bytesMax: bytesMax - this.#bytes, secondsMax: Math.max(0, secondsMax - this.#seconds()) };
      const opened = openSource({ ...this.#source, location, ...bounds }, (done) => onBytes(start + done, null), signal);
      this.#explained = opened.explained;
      const { chunks, meter } = boundedContent(opened.content);
      yield { name: location, chunks };
      const stored = opened.stored();
      before += stored.bytes;
      this.#stored.push(stored);
      this.#bytes += meter.bytes;
    }
    this.#current = null;
    this.#lasted = this.#seconds();
  }

  /** Judges a file that was read to its end. @throws SourceError */
  check({ name, from, latest, records, bad, table, peers, example }: UpdateFileCounts): void {
    if (table > 0)
      throw new SourceError(name, { offset: 0 }, `is a table (${table} records), not updates; use it as a source of section routes`);
    const { known, others } = peers;
    if (others >= newPeersMin && others > known * newPeersPerKnownMax)
      throw new SourceError(
        name,
        null,
        `has updates of another collector: ${known} of its ${known + others} peers are peers of the table; check location and applies_to`,
      );
    const future = latest === null ? null : futureText(this.#source, latest, "the time of a record");
    if (future !== null && this.#source.futureDates === "refuse") throw new SourceError(name, null, future);
    this.#isFuture ||= future !== null;
    if (from !== null && from < this.#beganAt)
      throw new SourceError(name, null, "starts before the previous file: the order of the file names is not the order of their times");
    this.#beganAt = from ?? this.#beganAt;
    this.#newest = Math.max(this.#newest, latest ?? 0);
    if (bad > records * this.#source.badRecordsMax)
      throw new SourceError(
        name,
        { offset: example?.offset ?? 0 },
        `${bad} of ${records} records are malformed, more than bad_records_max allows; the first: ${example?.detail ?? ""}`,
      );
  }

  /**
   * Leaves out the file at which a replay ended, and what is behind it: without it, what follows is not known to be right.
   *
   * @returns false when it was no file of updates
   * @throws UpdatesError where the source is required
   */
  leaveOutFailed(error: unknown): boolean {
    const file = this.#current;
    if (file === null) return false;
    const { message } = this.#explained(sourceErrorOf(error, file)) as Error;
    if (this.#source.required) throw new UpdatesError(message, file, { cause: error });
    this.#fault = { message, file };
    this.#files = this.#files.slice(0, this.#files.indexOf(file));
    this.#current = null;
    return true;
  }

  /** @param counts  null where there was no file to replay. */
  result(counts: UpdatesReport | null): ReadUpdates {
    const until = counts?.lastTimestamp ?? this.#from;
    const missing = this.#missing().filter(({ from }) => from < until);
    const found: UpdatesGap[] = [...missing, ...(counts?.gaps ?? [])];
    if (this.#fault !== null) found.push({ from: until, to: null });
    const told = mergedGaps(found, this.#from);
    return {
      report: this.#report(counts, told),
      stored: {
        bytes: this.#stored.reduce((sum, { bytes }) => sum + bytes, 0),
        sha256: digestOfAll(this.#stored.map(({ sha256 }) => sha256)),
      },
      gaps: told,
      counts,
      files: this.#files.length,
      error: this.#fault?.message ?? null,
      refused: this.#fault?.file ?? null,
    };
  }

  #report(counts: UpdatesReport | null, gaps: readonly UpdatesGap[]): ReaderReport {
    const base = { bytes: this.#bytes, seconds: this.#lasted };
    if (counts === null)
      return { ...base, read: 0, accepted: 0, skipped: [], asOf: this.#from, notes: ["contains nothing newer than the table"] };
    const skipped: SkippedRecords[] = [
      { reason: "older than the table", bad: false, count: counts.beforeRib, examples: [] },
      { reason: "sent by the collector", bad: false, count: counts.sent, examples: [] },
      { reason: "neither an update nor a state change", bad: false, count: counts.unread, examples: [] },
      {
        reason: "malformed",
        bad: true,
        count: counts.bad,
        examples: counts.badExamples.map(({ name, offset, detail }) => ({ offset, text: `${basename(name)}: ${detail}` })),
      },
    ];
    return {
      ...base,
      read: counts.records,
      accepted: counts.messages + counts.stateChanges,
      skipped: skipped.filter(({ count }) => count > 0),
      asOf: this.#isFuture ? null : counts.lastTimestamp,
      notes: [
        `${this.#files.length} files: ${counts.announced} routes announced, ${counts.withdrawn} withdrawn, ${counts.stateChanges} changes of state`,
        ...(counts.sessionsLost > 0 ? [`${counts.sessionsLost} sessions lost, and ${counts.routesLost} routes with them`] : []),
        ...(counts.newPeers > 0 ? [`peers that the table does not have: ${counts.newPeers}`] : []),
        ...(this.#newest > 0 && this.#newest < this.#from
          ? [`all updates are older than the table, of ${timeText(this.#from)}: the newest is of ${timeText(this.#newest)}`]
          : []),
        ...(this.#isFuture ? ["times in the future, which were ignored"] : []),
        ...gaps.map((gap) => `updates ${spanText(gap)} are missing`),
      ],
    };
  }

  /** Steps that the publisher does not have, as far as the table does not have them itself. */
  #missing(): { from: number; to: number }[] {
    const missing = (this.#source.updateFiles?.missing ?? []).filter(({ to }) => to > this.#from);
    return missing.map(({ from, to }) => ({ from: Math.max(from, this.#from), to }));
  }

  #seconds(): number {
    return (performance.now() - this.#started) / 1_000;
  }
}

/** The gaps in order of time, those that touch as one, each from no earlier than the table. */
export function mergedGaps(gaps: readonly UpdatesGap[], table: number): UpdatesGap[] {
  const merged: { from: number; to: number | null }[] = [];
  for (const { from, to } of gaps.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last === undefined || (last.to !== null && from > last.to)) merged.push({ from: Math.max(from, table), to });
    else if (last.to !== null) last.to = to === null ? null : Math.max(last.to, to);
  }
  return merged;
}

function timeText(seconds: number): string {
  return timestamp(seconds * 1_000);
}

function spanText({ from, to }: UpdatesGap): string {
  const begin = timeText(from);
  return to === null ? `after ${begin}` : `from ${begin} to ${timeText(to)}`;
}

/** An error of reading a file, as that of a source: with the place. */
export function sourceErrorOf(error: unknown, file: string): Error {
  if (!(error instanceof MrtError)) return error as Error;
  return new SourceError(file, { offset: error.offset }, error.message.replace(`${file}: `, ""), { cause: error });
}
