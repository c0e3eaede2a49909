/**
 * Fetches one source: the newest file at its location. A fetch is tried again if that may help, and counts only when the file is whole and checked.
 */

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, utimes } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { openContent } from "@netfacts/content";
import { timestamp } from "@netfacts/contracts";
import { authorityFault } from "@netfacts/runtime/authorities";
import type { ProgressListener } from "../pipeline/progress.ts";
import { type FetchSettings, locationsAt, type SourceConfig, shownUrl } from "../sources/index.ts";
import { linkLocalRefusal, type Refusal, type Resolve, refusal, systemResolve } from "./address-guard.ts";
import { type Downloaded, download } from "./download.ts";
import { DownloadFolder, type FetchedFile, pathOf, urlDigestOf } from "./download-folder.ts";
import { connectionError, FetchError } from "./fetch-error.ts";
import { abortError, type GetTarget, httpGet } from "./http-get.ts";
import { md5In } from "./md5-text.ts";
import { backoffMs, retryAfterMsMax, triesMax } from "./retry.ts";
import { trusting } from "./trusted-authorities.ts";

/** The context that all fetches of a process share. */
export interface FetchContext {
  /** Folder of all downloads. */
  readonly downloads: string;
  /** `netfacts/0.1.0 (+https://…)` */
  readonly userAgent: string;
  /** File of certificates (PEM) that are trusted in addition to the default ones; empty: none. */
  readonly caFile: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: ProgressListener;
  /** For tests, like all members below. */
  readonly resolve?: Resolve;
  readonly refuse?: Refusal;
  readonly now?: () => number;
  readonly random?: () => number;
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly stallMs?: number;
}

/** A source that has a URL. */
export type RemoteSource = Pick<SourceConfig, "name" | "bytesMax" | "secondsMax"> & { readonly fetch: FetchSettings };

export interface FetchOutcome {
  /** Whether the content differs from the previous one. */
  readonly changed: boolean;
  readonly file: FetchedFile;
  /** Path of the file. */
  readonly path: string;
  /** Bytes received over the network. */
  readonly bytes: number;
  readonly seconds: number;
  readonly notes: readonly string[];
}

/** A server that sends nothing for this time is unavailable. */
const stallMsDefault = 30_000;
const digestBytesMax = 4_096;
/** Servers that do not know when a file was written say the first second of Unix time, or one beside it. */
const knownTimeMsMin = 86_400_000;

type Settled = Required<Omit<FetchContext, "signal" | "onProgress">> & {
  readonly signal: AbortSignal;
  readonly onProgress: ProgressListener;
};

/**
 * Resolves when the newest file is on the disk, checked and recorded. The previous file stays until then, and after any failure.
 *
 * @throws FetchError; the reason of `signal` when that was aborted.
 */
export async function fetchSource(source: RemoteSource, context: FetchContext): Promise<FetchOutcome> {
  const started = performance.now();
  const deadline = new AbortController();
  let fetching: SourceFetch | null = null;
  const tooLate = () => {
    const why = fetching?.failure == null ? "" : `; the last try: ${fetching.failure}`;
    return new FetchError("late", `${shownUrl(source.fetch.url)}: took longer than seconds_max (${source.secondsMax} s)${why}`);
  };
  const timer = setTimeout(() => deadline.abort(tooLate()), source.secondsMax * 1_000);
  const signal = AbortSignal.any([deadline.signal, ...(context.signal === undefined ? [] : [context.signal])]);
  const settled: Settled = {
    onProgress: () => undefined,
    resolve: systemResolve,
    refuse: refusal,
    now: () => Date.now(),
    random: Math.random,
    pause: async (ms, stop) => void (await sleep(ms, undefined, { signal: stop })),
    stallMs: stallMsDefault,
    ...context,
    signal,
  };
  try {
    const folder = await DownloadFolder.take(context.downloads, source.name, signal);
    try {
      fetching = new SourceFetch(source, settled, folder);
      const got = await fetching.run();
      return { ...got, path: pathOf(context.downloads, source.name, got.file), seconds: (performance.now() - started) / 1_000 };
    } finally {
      folder.release();
    }
  } catch (error) {
    throw signal.aborted ? abortError(signal) : error;
  } finally {
    clearTimeout(timer);
  }
}

class SourceFetch {
  readonly #source: RemoteSource;
  readonly #context: Settled;
  readonly #folder: DownloadFolder;
  readonly #notes: string[] = [];
  #bytes = 0;
  /** Why the last try failed, without the URL; null: none has failed. */
  failure: string | null = null;

  constructor(source: RemoteSource, context: Settled, folder: DownloadFolder) {
    this.#source = source;
    this.#context = context;
    this.#folder = folder;
  }

  async run(): Promise<Omit<FetchOutcome, "path" | "seconds">> {
    const { fetch } = this.#source;
    const { latest: known } = await this.#folder.files();
    await this.#folder.removeUnnamed();
    const candidates = locationsAt(fetch.url, fetch.everySeconds, this.#context.now());
    let denied: FetchError | null = null;
    for (const url of candidates) {
      try {
        return await this.#fetchUrl(url, known);
      } catch (error) {
        if (!(error instanceof FetchError) || candidates.length === 1) throw error;
        // The file that is here existed: an older one must not take its place.
        const mayBeMissing = error.fault === "denied" && known?.urlDigest !== urlDigestOf(url);
        if (error.fault !== "absent" && !mayBeMissing) throw error;
        if (mayBeMissing) denied ??= error;
      }
    }
    if (denied !== null) throw denied;
    const newest = shownUrl(candidates[0] as string);
    throw new FetchError("absent", `${newest}: not found, nor are the ${candidates.length - 1} before it`);
  }

  /** Tries until the file is whole. A try that received more of the file starts the count of failures anew. */
  async #fetchUrl(url: string, known: FetchedFile | null): Promise<Omit<FetchOutcome, "path" | "seconds">> {
    const { now, random, pause, signal } = this.#context;
    const request = await this.#request(url);
    const urlDigest = urlDigestOf(url);
    let had = 0;
    for (let failures = 1; ; failures++) {
      try {
        return await this.#fetchOnce(request, known);
      } catch (error) {
        if (!(error instanceof FetchError) || !error.mayPass || signal.aborted) throw error;
        this.failure = error.message.replace(`${shownUrl(url)}: `, "");
        const partial = await this.#folder.partial(urlDigest);
        if (partial !== null && partial.bytes > had) failures = 1;
        had = partial?.bytes ?? 0;
        const asked = error.retryAfterMs;
        if (asked !== null && asked > Math.min(retryAfterMsMax, this.#source.secondsMax * 1_000))
          throw new FetchError("away", `${error.message}; the server asks not to be contacted before ${timestamp(now() + asked)}`, {
            cause: error,
            retryAfterMs: asked,
          });
        if (failures >= triesMax)
          throw new FetchError(error.fault, `${error.message} (${triesMax} tries)`, {
            cause: error,
            ...(asked !== null && { retryAfterMs: asked }),
          });
        await pause(Math.max(asked ?? 0, backoffMs(failures, random)), signal);
      }
    }
  }

  async #request(url: string): Promise<GetTarget> {
    const { fetch } = this.#source;
    const { resolve, refuse, stallMs, signal, caFile } = this.#context;
    const files = [caFile, fetch.caFile].filter((file) => file !== null && file !== "") as string[];
    const read = (file: string) =>
      readFile(file, "utf8").catch((cause: Error) => {
        throw new FetchError("forbidden", `${shownUrl(url)}: ${file} cannot be read: ${cause.message}`, { cause });
      });
    const readAuthorities = async (file: string) => {
      const text = await read(file);
      const fault = authorityFault(text);
      if (fault !== null) throw new FetchError("forbidden", `${shownUrl(url)}: ${file} must hold PEM certificates: ${fault}`);
      return text;
    };
    const readAuthorization = async (file: string) => {
      const text = (await read(file)).trim();
      if (/^[\t\x20-\x7e]+$/.test(text)) return text;
      throw new FetchError(
        "forbidden",
        `${shownUrl(url)}: ${file} must hold one line, the value of the header Authorization, in ASCII letters`,
      );
    };
    return {
      url,
      authorization: fetch.authorizationFile === null ? null : await readAuthorization(fetch.authorizationFile),
      refuse: fetch.allowPrivate ? linkLocalRefusal : refuse,
      allowDowngrade: fetch.allowDowngrade,
      secureContext: files.length === 0 ? undefined : trusting(await Promise.all(files.map(readAuthorities))),
      resolve,
      stallMs,
      signal,
    };
  }

  async #fetchOnce(request: GetTarget, known: FetchedFile | null): Promise<Omit<FetchOutcome, "path" | "seconds">> {
    const { name, bytesMax, fetch } = this.#source;
    const { userAgent, now, onProgress } = this.#context;
    const { url } = request;
    const got = await download({
      ...request,
      userAgent,
      // A digest is of the file without encoding. A file that is compressed already gains nothing.
      mayBeEncoded: fetch.md5 === "no" && !/\.(gz|bz2|zst|xz|zip)$/.test(url.replace(/[?#].*$/, "")),
      folder: this.#folder,
      known,
      bytesMax,
      now,
      onBytes: (received, done, total) => {
        this.#bytes += received;
        onProgress({ label: `fetch ${name}`, done, total, unit: "bytes" });
      },
    });
    if (got === null) return this.#unchanged({ ...(known as FetchedFile), checkedAt: now() });
    await this.#checkDigest(request, got);
    const file: FetchedFile = {
      sha256: got.sha256,
      bytes: got.bytes,
      url: shownUrl(url),
      finalUrl: shownUrl(got.finalUrl),
      urlDigest: urlDigestOf(url),
      etag: got.etag,
      lastModified: got.lastModified,
      fetchedAt: now(),
      checkedAt: now(),
    };
    if (known?.sha256 === file.sha256) {
      await this.#folder.dropPartial();
      return this.#unchanged({ ...file, fetchedAt: known.fetchedAt });
    }
    const modified = Date.parse(got.lastModified ?? "");
    const writtenAt = new Date(modified >= knownTimeMsMin ? Math.min(modified, now()) : now());
    await utimes(this.#folder.partialPath, writtenAt, writtenAt);
    await this.#folder.keepPartial(file);
    return { changed: true, file, bytes: this.#bytes, notes: this.#notes };
  }
  async #unchanged(file: FetchedFile): Promise<Omit<FetchOutcome, "path" | "seconds">> {
    await this.#folder.noteLatest(file);
    return { changed: false, file, bytes: this.#bytes, notes: this.#notes };
  }

  /** Compares the file with the digest that is published next to it. */
  async #checkDigest(request: GetTarget, got: Downloaded): Promise<void> {
    const { md5 } = this.#source.fetch;
    if (md5 === "no") return;
    const told = await digestBeside(request, this.#context.userAgent).catch((error: FetchError) => {
      if (md5 === "required" || request.signal.aborted) throw error;
      this.#notes.push(`digest not checked: ${error.message}`);
      return null;
    });
    if (told === null) return;
    const path = this.#folder.partialPath;
    const { bytesMax } = this.#source;
    const { signal } = request;
    if ((await md5Of(createReadStream(path), bytesMax, signal)) === told) return;
    // Some servers compress a file without being asked; the digest is of the uncompressed file.
    const unpackedDigest = await md5Of(unpacked(path), bytesMax, signal).catch(() => null);
    signal.throwIfAborted();
    if (unpackedDigest === told) return;
    await this.#folder.dropPartial();
    throw new FetchError("damaged", `${shownUrl(got.finalUrl)}: the content does not match the digest in its .md5 file`);
  }
}

async function digestBeside(request: GetTarget, userAgent: string): Promise<string> {
  const url = new URL(request.url);
  url.pathname += ".md5";
  const { response, body } = await httpGet({
    ...request,
    url: url.href,
    headers: { "user-agent": userAgent, "accept-encoding": "identity" },
  });
  const where = shownUrl(url.href);
  response.setTimeout(request.stallMs, () =>
    response.destroy(new FetchError("away", `${where}: no data for ${request.stallMs / 1_000} s`)),
  );
  try {
    if (response.statusCode !== 200) throw new FetchError("refused", `${where}: the server returned status ${response.statusCode}`);
    let text = "";
    for await (const chunk of body) {
      text += chunk.toString("latin1");
      if (text.length > digestBytesMax) throw new FetchError("refused", `${where}: is not a digest`);
    }
    const digest = md5In(text);
    if (digest === null) throw new FetchError("refused", `${where}: is not a digest`);
    return digest;
  } catch (error) {
    throw connectionError(error as Error, where);
  } finally {
    response.destroy();
  }
}

async function* unpacked(path: string): AsyncGenerator<Uint8Array> {
  yield* openContent(path).stream;
}

/** @returns null for content of more than `bytesMax` bytes. @throws the reason of `signal` when that is aborted, and the errors of `chunks` */
async function md5Of(chunks: AsyncIterable<Uint8Array>, bytesMax: number, signal: AbortSignal): Promise<string | null> {
  const digest = createHash("md5");
  let bytes = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (bytes > bytesMax) return null;
    digest.update(chunk);
  }
  return digest.digest("hex");
}
