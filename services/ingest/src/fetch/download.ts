/** One try to download a file: resumes the previous try if that is safe, otherwise starts at the beginning. */

import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, statfs } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { shownUrl } from "../sources/index.ts";
import { type DownloadFolder, type FetchedFile, type PartialFile, urlDigestOf } from "./download-folder.ts";
import { connectionError, diskError, FetchError } from "./fetch-error.ts";
import { abortError, type GetAnswer, type GetTarget, httpGet } from "./http-get.ts";
import { readRetryAfter } from "./retry.ts";

export interface DownloadOptions extends GetTarget {
  readonly userAgent: string;
  /** False: requests exactly the file, without a content encoding. */
  readonly mayBeEncoded: boolean;
  readonly folder: DownloadFolder;
  /** The version that is here: the file is sent only if it has changed. Null: there is none. */
  readonly known: FetchedFile | null;
  readonly bytesMax: number;
  readonly now: () => number;
  onBytes(received: number, done: number, total: number | null): void;
}

/** The file is at `folder.partialPath`, whole and synced. */
export interface Downloaded {
  readonly sha256: string;
  readonly bytes: number;
  readonly finalUrl: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** The file is synced after this many bytes: a crash loses no more than these. */
const syncedEvery = 32 << 20;

/** @returns null: the server confirms that `known` is the newest. @throws FetchError */
export async function download(options: DownloadOptions): Promise<Downloaded | null> {
  const { url, folder, known, stallMs } = options;
  const urlDigest = urlDigestOf(url);
  const partial = await folder.partial(urlDigest);
  const isKnown = known?.urlDigest === urlDigest;
  const answer = await httpGet({ ...options, headers: headersOf(options, partial, isKnown ? known : null) });
  const { response } = answer;
  const watch = setTimeout(
    () => response.destroy(new FetchError("away", `${shownUrl(answer.url)}: no data for ${stallMs / 1_000} s`)),
    stallMs,
  );
  try {
    const { statusCode } = response;
    if (statusCode === 304 && partial === null && isKnown) return null;
    if (statusCode === 206 && partial !== null) return await receive(options, answer, urlDigest, partial, watch);
    if (statusCode === 200) return await receive(options, answer, urlDigest, null, watch);
    if (partial !== null && (statusCode === 416 || statusCode === 304)) await folder.dropPartial();
    throw refusalOf(answer, options.now());
  } finally {
    clearTimeout(watch);
    response.destroy();
  }
}

function headersOf({ userAgent, mayBeEncoded }: DownloadOptions, partial: PartialFile | null, known: FetchedFile | null) {
  const headers: Record<string, string> = {
    "user-agent": userAgent,
    accept: "*/*",
    "accept-encoding": mayBeEncoded ? "gzip" : "identity",
  };
  if (partial !== null) return { ...headers, range: `bytes=${partial.bytes}-`, "if-range": partial.etag };
  if (known?.etag != null) headers["if-none-match"] = known.etag;
  if (known?.lastModified != null) headers["if-modified-since"] = known.lastModified;
  return headers;
}

function refusalOf({ response, url }: GetAnswer, now: number): FetchError {
  const { statusCode = 0, headers } = response;
  const told = `${shownUrl(url)}: the server returned status ${statusCode}`;
  if (statusCode === 404 || statusCode === 410) return new FetchError("absent", told);
  if (statusCode === 403) return new FetchError("denied", told);
  if ([408, 416, 425, 429, 500, 502, 503, 504].includes(statusCode)) {
    const retryAfterMs = readRetryAfter(headers["retry-after"], now);
    return new FetchError("away", told, retryAfterMs === null ? {} : { retryAfterMs });
  }
  return new FetchError("refused", told);
}

async function receive(
  options: DownloadOptions,
  answer: GetAnswer,
  urlDigest: string,
  partial: PartialFile | null,
  watch: NodeJS.Timeout,
): Promise<Downloaded> {
  const { folder, bytesMax, signal } = options;
  const { response } = answer;
  const where = shownUrl(answer.url);
  const etag = response.headers.etag ?? null;
  if (partial !== null && !fits(response, partial)) {
    await folder.dropPartial();
    throw new FetchError("damaged", `${where}: the file changed on the server during the download`);
  }
  // Some proxies leave an empty header, which is the same as none (RFC 9110 §5.6.1).
  const encoding = response.headers["content-encoding"] || "identity";
  if (!["identity", "gzip", "x-gzip"].includes(encoding.toLowerCase()))
    throw new FetchError("refused", `${where}: the server used the encoding ${encoding.slice(0, 20)}, which was not requested`);
  const start = partial?.bytes ?? 0;
  const total = totalOf(response, start);
  if (total !== null && total > bytesMax) throw tooLong(where, bytesMax, total);
  // A part of another version: the new one may need its space.
  if (partial === null) await folder.dropPartial();
  await checkRoom(folder, total === null ? 0 : total - start);

  const sink = await Sink.open(folder, partial, {
    urlDigest,
    etag: etag?.startsWith('"') ? etag : null,
    total,
  });
  try {
    await sink.catchUp();
    watch.refresh();
    for await (const chunk of answer.body) {
      if (sink.bytes + chunk.length > bytesMax) throw tooLong(where, bytesMax, null);
      await sink.write(chunk);
      watch.refresh();
      options.onBytes(chunk.length, sink.bytes, total);
    }
    if (!response.complete || (total !== null && sink.bytes !== total))
      throw new FetchError("damaged", `${where}: the download ended after ${sink.bytes} of ${total ?? "unknown"} bytes`);
    // Data after the announced end cause a failure in this turn of the event loop, or never.
    await Promise.race([answer.failure, new Promise((resolve) => setImmediate(resolve))]);
    const sha256 = await sink.finish();
    return { sha256, bytes: sink.bytes, finalUrl: answer.url, etag, lastModified: response.headers["last-modified"] ?? null };
  } catch (error) {
    const fault = signal.aborted ? abortError(signal) : receiveFault(error as Error, where, sink.bytes, total);
    await sink.breakOff(fault);
    throw fault;
  }
}

function tooLong(where: string, bytesMax: number, total: number | null): FetchError {
  return new FetchError("bound", `${where}: ${total === null ? "" : `${total} bytes, `}larger than bytes_max (${bytesMax} bytes)`);
}

/** A closed connection is an error of the body, a full disk one of the file. */
function receiveFault(error: Error, where: string, bytes: number, total: number | null): FetchError {
  if ((error as NodeJS.ErrnoException).code === "ECONNRESET")
    return new FetchError("damaged", `${where}: the connection was closed after ${bytes} of ${total ?? "unknown"} bytes`, { cause: error });
  return connectionError(error, where);
}

/** Whether the response is of the same version, and begins where our part ends. */
function fits({ headers }: IncomingMessage, { etag, bytes, total }: PartialFile): boolean {
  const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers["content-range"] ?? "");
  if (range === null || Number(range[1]) !== bytes) return false;
  if (range[2] !== "*" && total !== null && Number(range[2]) !== total) return false;
  return headers.etag === undefined || headers.etag === etag;
}

function totalOf({ headers }: IncomingMessage, start: number): number | null {
  const whole = /\/(\d+)$/.exec(headers["content-range"] ?? "");
  if (whole !== null) return Number(whole[1]);
  return headers["content-length"] === undefined ? null : start + Number(headers["content-length"]);
}

async function checkRoom(folder: DownloadFolder, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder.path);
  if (needed <= bavail * bsize) return;
  await folder.dropPartial();
  throw new FetchError("disk", `${folder.path}: the disk has room for ${bavail * bsize} of ${needed} bytes; the last good file stays`);
}

/** The version of the URL that is received; without a strong entity tag it cannot be resumed. */
type Version = Pick<PartialFile, "urlDigest" | "total"> & { readonly etag: string | null };

/** The partial file: written in order, hashed as it grows, and noted as far as it is synced. */
class Sink {
  bytes: number;
  readonly #folder: DownloadFolder;
  readonly #file: FileHandle;
  readonly #version: Version;
  readonly #digest: Hash = createHash("sha256");
  #synced: number;

  private constructor(folder: DownloadFolder, file: FileHandle, start: number, version: Version) {
    this.#folder = folder;
    this.#file = file;
    this.#version = version;
    this.bytes = start;
    this.#synced = start;
  }

  static async open(folder: DownloadFolder, partial: PartialFile | null, version: Version): Promise<Sink> {
    try {
      const file = await open(folder.partialPath, partial === null ? "w" : "r+");
      await file.truncate(partial?.bytes ?? 0);
      return new Sink(folder, file, partial?.bytes ?? 0, version);
    } catch (error) {
      throw diskError(error, folder.partialPath);
    }
  }

  /** Hashes the part that is on the disk already. */
  async catchUp(): Promise<void> {
    if (this.bytes === 0) return;
    for await (const chunk of createReadStream(this.#folder.partialPath, { end: this.bytes - 1 })) this.#digest.update(chunk as Buffer);
  }

  async write(chunk: Buffer): Promise<void> {
    this.#digest.update(chunk);
    try {
      // A call may write less than it was given, as the last one on a full disk does.
      for (let at = 0; at < chunk.length; ) {
        const { bytesWritten } = await this.#file.write(chunk, at, chunk.length - at, this.bytes);
        at += bytesWritten;
        this.bytes += bytesWritten;
      }
      if (this.bytes - this.#synced >= syncedEvery) await this.#sync();
    } catch (error) {
      throw diskError(error, this.#folder.partialPath);
    }
  }

  async finish(): Promise<string> {
    try {
      await this.#file.sync();
      await this.#file.close();
    } catch (error) {
      throw diskError(error, this.#folder.partialPath);
    }
    return this.#digest.digest("hex");
  }

  /** Keeps a part that can be resumed; otherwise removes it, which also frees space on a full disk. */
  async breakOff(fault: Error): Promise<void> {
    const isOfUse = !(fault instanceof FetchError) || fault.fault === "away" || fault.fault === "damaged" || fault.fault === "late";
    const isWhole = this.#version.total !== null && this.bytes >= this.#version.total;
    if (isOfUse && !isWhole && this.#version.etag !== null) await this.#sync().catch(() => undefined);
    await this.#file.close().catch(() => undefined);
    if (!isOfUse || isWhole || this.#version.etag === null) await this.#folder.dropPartial().catch(() => undefined);
  }

  async #sync(): Promise<void> {
    const { urlDigest, etag, total } = this.#version;
    if (etag === null || this.bytes === 0) return;
    await this.#file.datasync();
    await this.#folder.notePartial({ urlDigest, etag, total, bytes: this.bytes });
    this.#synced = this.bytes;
  }
}
