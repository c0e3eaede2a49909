/** Stores the lines of an upload while its body arrives, in batches, so that a body of any length needs the memory of one batch. */

import { crc32 } from "node:zlib";
import { ProblemError } from "@netfacts/contracts";
import {
  type BadLine,
  type ObservationRepository,
  type ObservationRow,
  type UploadFormat,
  type UploadProgress,
  type UploadRecord,
  uploadLinesMax,
} from "@netfacts/storage";
import { splitCsvLine } from "../readers/csv.ts";
import { damagedText, hasNulBlock, isUtf16, lineBytesMax, utf16Bytes } from "../readers/lines.ts";
import { ReadableText } from "../readers/readable-text.ts";
import { type LineReader, lineReader, NotThisFormatError } from "./line-readers.ts";
import { type UploadLine, UploadLines } from "./upload-lines.ts";

export interface ReceiveBounds {
  /** Most bytes of the file. */
  readonly bytesMax: number;
  /** Longest time of one request. */
  readonly secondsMax: number;
  /** Most rows in the store; it may have a tenth more until the oldest are removed. */
  readonly rowsMax: number;
  /** Time in which at least `slowBytes` must arrive; the time that the store takes is not counted. */
  readonly slowMs?: number;
}

export interface ReceiveOptions extends ReceiveBounds {
  readonly repository: ObservationRepository;
  /** The upload as stored. */
  readonly upload: UploadRecord;
  /** Place in the file of the body's first byte; not after the end of what is stored. */
  readonly offset: number;
  readonly body: AsyncIterable<Uint8Array>;
  /** The file continues after this body. */
  readonly isPart: boolean;
  /** How far an observation may be ahead of the clock. */
  readonly skewSeconds: number;
  readonly clock: { now(): number };
  /** Ends the upload with `shutting_down`; lines that have arrived are stored. */
  readonly stopping?: AbortSignal | undefined;
}

const batchLines = 1_000;
const geofeedFields = 5;
const badLinesNamed = 100;
/** A longer line cannot be a line of text. */
const openLineMax = 1_048_576;
const slowBytes = 65_536;
const slowMsDefault = 30_000;
/** From this number of lines on, a file with mostly invalid lines is taken for one of another format. */
const judgedLines = 1_000;
/** Batches between two checks of how full the store is. */
const countEvery = 50;

/**
 * @returns the upload as stored at the end.
 * @throws ProblemError for a body that breaks a bound, is truncated, or is of another file or format; also the errors of the body. Lines that were
 * read before are stored, except those of another format.
 */
export async function receive(options: ReceiveOptions): Promise<UploadRecord> {
  const { body, upload, offset, isPart, bytesMax, secondsMax } = options;
  const batch = new Batch(options);
  const lines = new UploadLines(upload.offset, upload.checksum);
  let skip = upload.offset - offset;
  /** Checksum of the bytes that are stored already. It is not checked if the body begins after the first of them. */
  let skipped = offset === 0 ? 0 : null;
  let position = offset;
  /** The first bytes of the file, which may arrive in several chunks. */
  let head = Buffer.alloc(0);
  const { slowMs = slowMsDefault, stopping } = options;
  const pieces = timely(body, { slowMs, endsAt: performance.now() + secondsMax * 1_000, stopping });
  try {
    for await (const piece of pieces) {
      if (offset === 0 && position < utf16Bytes) head = Buffer.concat([head, piece.subarray(0, utf16Bytes - position)]);
      if (isUtf16(head)) throw new NotThisFormatError("the file is UTF-16 text; save it as UTF-8");
      position += piece.length;
      if (position > bytesMax) throw new ProblemError("payload_too_large", { detail: `An upload has at most ${bytesMax} bytes.` });
      const known = piece.subarray(0, skip);
      const fresh = piece.subarray(known.length);
      if (skipped !== null) skipped = crc32(known, skipped);
      skip -= known.length;
      if (skip === 0 && known.length > 0 && skipped !== null && upload.checksum !== null && skipped !== upload.checksum)
        throw new ProblemError("upload_conflict", { detail: otherFile(upload) });
      for (const line of lines.push(fresh)) {
        batch.take(line);
        if (batch.isFull) await batch.store(false);
      }
      if (lines.openLength > openLineMax) throw new NotThisFormatError(`a line is longer than ${openLineMax} bytes`);
    }
    if (isPart) {
      await batch.store(false);
      return batch.upload;
    }
    if (skip > 0) throw new ProblemError("upload_conflict", { detail: otherFile(upload) });
    const last = lines.last();
    if (last !== null && !isWholeLine(upload.format, last)) {
      batch.judge(true);
      throw new ProblemError("invalid_body", { detail: openEnd });
    }
    if (last !== null) batch.take(last);
    await batch.store(true);
    return batch.upload;
  } catch (error) {
    const isOver = error instanceof ConflictError;
    const failure: unknown = isOver
      ? error
      : await batch.store(false).then(
          () => error,
          (reason: unknown) => reason,
        );
    throw problemOf(failure, batch.upload);
  }
}

function otherFile({ offset }: UploadRecord): string {
  return `The file differs from that of the upload, of which ${offset} bytes are stored. Send it as another upload.`;
}

const openEnd = "The last line has no line break, so the file may be cut. If it is complete, add a line break and send the upload again.";

/**
 * Whether a line without a break is certainly complete. Half a line of JSON cannot be parsed. Half a line of CSV can: the beginning of a number is a
 * number. In a geofeed the last field, the fifth, has no meaning (RFC 8805 §2.1.1.5).
 */
function isWholeLine(format: UploadFormat, { bytes }: UploadLine): boolean {
  if (format === "csv" || bytes === null) return false;
  if (format === "ndjson") return isBlankOrJson(new ReadableText().decode(bytes, true));
  const fields = splitCsvLine(Buffer.from(bytes).toString("utf8"));
  return fields !== null && fields.length >= geofeedFields;
}

function isBlankOrJson(text: string): boolean {
  if (text.trim() === "") return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

class ConflictError extends Error {
  override readonly name = "ConflictError";
}

function problemOf(error: unknown, { offset, lines }: UploadRecord): unknown {
  const kept = `Stored are ${offset} bytes, ${lines} lines.`;
  if (error instanceof ConflictError)
    return new ProblemError("upload_conflict", {
      detail: "Another request changed or deleted the upload during this one.",
      retryAfterSeconds: 2,
    });
  if (error instanceof NotThisFormatError) return new ProblemError("invalid_body", { detail: `${sentence(error.message)} ${kept}` });
  if (error instanceof ProblemError) return new ProblemError(error.code, { detail: `${error.message} ${kept}` });
  return error;
}

function sentence(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
}

/** Lines that were read and are not stored yet, and the progress of the upload with them. */
class Batch {
  upload: UploadRecord;
  readonly #options: ReceiveOptions;
  readonly #reader: LineReader;
  readonly #texts = new ReadableText();
  #rows: ObservationRow[] = [];
  #progress: { offset: number; checksum: number | null; lines: number; rows: number; bad: number };
  #badLines: readonly BadLine[];
  #batches = 0;
  #otherFormat: NotThisFormatError | null = null;

  constructor(options: ReceiveOptions) {
    const { upload } = options;
    this.#options = options;
    this.upload = upload;
    this.#reader = lineReader(upload.format, upload.header);
    const { offset, checksum, lines, rows, bad } = upload;
    this.#progress = { offset, checksum, lines, rows, bad };
    this.#badLines = upload.badLines;
  }

  get isFull(): boolean {
    return this.#progress.lines - this.upload.lines >= batchLines;
  }

  take({ bytes, end, checksum }: UploadLine): void {
    const { clock, skewSeconds } = this.#options;
    const progress = this.#progress;
    const line = progress.lines + 1;
    if (line > uploadLinesMax) throw new ProblemError("payload_too_large", { detail: `An upload has at most ${uploadLinesMax} lines.` });
    const read =
      bytes === null
        ? `the line is longer than ${lineBytesMax} bytes`
        : hasNulBlock(bytes)
          ? damagedText
          : this.#reader.read(this.#texts.decode(bytes, line === 1), clock.now() / 1_000 + skewSeconds);
    progress.lines = line;
    progress.offset = end;
    progress.checksum = checksum;
    if (typeof read === "string") {
      progress.bad++;
      if (this.#badLines.length < badLinesNamed) this.#badLines = [...this.#badLines, { line, reason: read }];
    } else if (read !== null) {
      progress.rows++;
      this.#rows.push({ line, ...read });
    }
  }

  /**
   * Stores the batch. Nothing of a file of another format is stored, so that it fails again if it is sent again.
   *
   * @param isEnd  the end of the file was read.
   */
  async store(isEnd: boolean): Promise<void> {
    this.judge(isEnd);
    const { repository, clock } = this.#options;
    const complete = this.upload.complete || isEnd;
    const progress: UploadProgress = { ...this.#progress, badLines: this.#badLines, header: this.#reader.header, complete };
    if (progress.lines === this.upload.lines && complete === this.upload.complete) return;
    const stored = await repository.store(this.upload, this.#rows, progress, clock.now());
    if (stored === null) throw new ConflictError("changed meanwhile");
    // Not before: if the store fails, these rows are tried once more, with the progress that counts them.
    this.#rows = [];
    this.upload = stored;
    if (!isEnd && ++this.#batches % countEvery === 0) await this.#refuseFull();
  }

  /** @throws NotThisFormatError for a file of another format @param isEnd  as for `store` */
  judge(isEnd: boolean): void {
    const { lines, rows, bad } = this.#progress;
    const isOther = lines >= judgedLines ? bad > rows : isEnd && rows === 0 && bad > 0;
    const [first] = this.#badLines;
    if (isOther) this.#otherFormat ??= new NotThisFormatError(`${bad} of ${lines} lines are invalid: line ${first?.line} ${first?.reason}`);
    if (this.#otherFormat !== null) throw this.#otherFormat;
  }

  async #refuseFull(): Promise<void> {
    const { repository, rowsMax } = this.#options;
    if ((await repository.rowCount()) > rowsMax * 1.1) throw new ProblemError("observations_full");
  }
}

interface Timing extends Pick<ReceiveOptions, "stopping"> {
  readonly slowMs: number;
  /** In the time of `performance.now()`, which does not change when the clock is set. */
  readonly endsAt: number;
}

/** The chunks of a body; throws if it is slow, takes too long, or the process stops. */
async function* timely(body: AsyncIterable<Uint8Array>, { slowMs, endsAt, stopping }: Timing): AsyncGenerator<Uint8Array, void> {
  const pieces = body[Symbol.asyncIterator]();
  let [waited, bytes] = [0, 0];
  try {
    for (;;) {
      const from = performance.now();
      if (from >= endsAt) throw new ProblemError("request_timeout", { detail: "The upload took longer than one request may." });
      const leftMs = Math.min(slowMs - waited, endsAt - from);
      const next = await within(leftMs, pieces.next(), stopping);
      if (stopping?.aborted === true && next?.done !== true)
        throw new ProblemError("shutting_down", { detail: "Ingest is shutting down. Resume the upload in a few seconds." });
      if (next === null) {
        const detail = performance.now() >= endsAt ? "The upload took longer than one request may." : "The body arrives too slowly.";
        throw new ProblemError("request_timeout", { detail });
      }
      if (next.done === true) return;
      waited += performance.now() - from;
      bytes += next.value.length;
      if (bytes >= slowBytes) [waited, bytes] = [0, 0];
      yield next.value;
    }
  } finally {
    // Not awaited: a silent body would not end before its next chunk.
    void pieces.return?.()?.catch?.(() => undefined);
  }
}

/** Null: the work took longer, or the signal aborted first. */
async function within<T>(ms: number, work: Promise<T>, signal: AbortSignal | undefined): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, Math.max(0, ms), null);
  const end = (): void => resolve(null);
  signal?.addEventListener("abort", end);
  if (signal?.aborted === true) end();
  // A result or an error that comes too late is dropped.
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}
