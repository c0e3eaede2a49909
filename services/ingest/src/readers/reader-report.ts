/** Shared by all readers of sources: the report of a file that can be trusted, and the error of one that cannot. */

import type { Prefix } from "@netfacts/address";

/** A place in a source: a line of a text (from 1), or a byte of its decompressed content (from 0). */
export type Place = { line: number } | { offset: number };

/** A file that cannot be trusted, with the place and the reason. The last good data stay. */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly file: string;
  readonly line: number | null;
  readonly offset: number | null;
  /** The reason, without the place. */
  readonly reason: string;

  /** @param options.cause  the original error, if there is one: damaged compression, a disk */
  constructor(file: string, place: Place | null, reason: string, options?: { cause: unknown }) {
    const where = place === null ? "" : "line" in place ? `:${place.line}` : `: byte ${place.offset}`;
    super(`${file}${where}: ${reason}`, options);
    this.file = file;
    this.line = place !== null && "line" in place ? place.line : null;
    this.offset = place !== null && "offset" in place ? place.offset : null;
    this.reason = reason;
  }
}

/** One kind of record that was left out. */
export interface SkippedRecords {
  reason: string;
  /** True: it broke a rule of the format, and counts towards the bad-record bound. False: left out on purpose (expired, a placeholder). */
  bad: boolean;
  count: number;
  /** The first few, as written in the file. */
  examples: (Place & { text: string })[];
}

/** Outcome of reading one source. `read` = `accepted` + the counts of `skipped`. */
export interface ReaderReport {
  /** Bytes of the decompressed content. */
  bytes: number;
  seconds: number;
  read: number;
  accepted: number;
  skipped: SkippedRecords[];
  /** Time of the data as the file itself gives it, in Unix seconds; null: it gives none. */
  asOf: number | null;
  /** The latest time in a file that contains many, in Unix seconds. */
  latestAt?: number;
  /** Facts for the operator that nothing depends on. */
  notes: string[];
  /**
   * Number of records by kind, for a format in which each kind is compared with the last good version separately: a truncated file loses its last
   * kind.
   */
  kinds?: Readonly<Record<string, number>>;
}

/** Bounds within which a source is read and trusted; `SourceConfig` has them. */
export interface ReadBounds {
  bytesMax: number;
  secondsMax: number;
  badRecordsMax: number;
  /** Share by which the records of a delegated file may differ from its own counts; null: the share known of its registry. */
  countErrorMax?: number | null;
  /** Prefixes that a source of locations may speak of; null or absent: any. */
  covers?: readonly Prefix[] | null;
  /** Unix seconds: a later observation is bad; absent: none is. */
  latestTime?: number;
  /** The registry that must have published a delegated file; null or absent: any. */
  registry?: string | null;
}

/** A source as its reader gets it. Errors name `file`. */
export interface SourceContent extends ReadBounds {
  file: string;
  /** Decompressed content, in chunks of any size. */
  chunks: AsyncIterable<Uint8Array>;
}

const examplesMax = 5;
const exampleLettersMax = 120;

/** Counts what is read, accepted and skipped, and keeps the first examples. */
export class Tally {
  read = 0;
  accepted = 0;
  readonly #skipped = new Map<string, SkippedRecords>();
  #bad = 0;

  /** A record that broke a rule. */
  bad(reason: string, place: Place, text: string): void {
    this.#bad++;
    this.#skip(reason, true, place, text);
  }

  /** A record left out on purpose. */
  leaveOut(reason: string, place: Place, text: string): void {
    this.#skip(reason, false, place, text);
  }

  /** Adds the skipped records of a part of the source that was read separately. @param where  text to append to the examples */
  join(skipped: readonly SkippedRecords[], where: string): void {
    for (const { reason, bad, count, examples } of skipped) {
      const entry = this.#entry(reason, bad);
      entry.count += count;
      if (bad) this.#bad += count;
      for (const { text, ...place } of examples.slice(0, examplesMax - entry.examples.length))
        entry.examples.push({ ...place, text: printable(text + where) });
    }
  }

  #entry(reason: string, bad: boolean): SkippedRecords {
    const entry = this.#skipped.get(reason) ?? { reason, bad, count: 0, examples: [] };
    this.#skipped.set(reason, entry);
    return entry;
  }

  #skip(reason: string, bad: boolean, place: Place, text: string): void {
    const entry = this.#entry(reason, bad);
    entry.count++;
    if (entry.examples.length < examplesMax) entry.examples.push({ ...place, text: printable(text) });
  }

  /** The skipped records, the most frequent reason first. */
  skipped(): SkippedRecords[] {
    return [...this.#skipped.values()].sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
  }

  /** @throws SourceError if more than the given share of the records is bad, or if none was accepted; `end` is the end of the content */
  judge(file: string, badRecordsMax: number, what: string, end: Place): void {
    const skipped = this.skipped();
    const [worst] = skipped.filter((entry) => entry.bad);
    const [leftOut] = skipped.filter((entry) => !entry.bad);
    const example = worst?.examples[0];
    const place = example === undefined ? end : "line" in example ? { line: example.line } : { offset: example.offset };
    if (worst !== undefined && (this.#bad > this.read * badRecordsMax || (this.accepted === 0 && leftOut === undefined))) {
      const share = ((100 * this.#bad) / this.read).toFixed(2);
      throw new SourceError(
        file,
        place,
        `${this.#bad} of ${this.read} ${what} (${share} %) are invalid; bad_records_max allows ${100 * badRecordsMax} %; most common reason: ${worst.reason}, first in "${example?.text}"`,
      );
    }
    if (this.accepted > 0) return;
    if (leftOut === undefined) throw new SourceError(file, end, `has no ${what}`);
    const first = leftOut.examples[0]?.text;
    throw new SourceError(
      file,
      end,
      `has no ${what} that count: ${leftOut.count} of ${this.read} are left out: ${leftOut.reason}, first "${first}"`,
    );
  }
}

/**
 * Text of a damaged file for a report: one short line without control characters, and without characters that change the direction of the text after
 * them.
 */
export function printable(text: string): string {
  const isLong = text.length > exampleLettersMax;
  const line = isLong ? text.slice(0, exampleLettersMax - 1) : text;
  return `${line.replaceAll("\t", " ").replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, "\ufffd")}${isLong ? "…" : ""}`;
}
