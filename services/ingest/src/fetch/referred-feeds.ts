/**
 * The geofeeds that a registry dump refers to (RFC 9632), each fetched into a folder of its own, the last good version kept.
 *
 *     <downloads>/<source>/feeds/feeds.json     which URLs the dump refers to, and how it went with each
 *                                <URL digest>/  what was fetched of it (`download-folder.ts`)
 *                                kept/<sha256>  the last good version of each, which runs read
 *
 * The URLs are those of strangers. So the bounds here are small, and no setting of the source opens private addresses to them.
 */

import { createHash } from "node:crypto";
import { link, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { openContent } from "@netfacts/content";
import { feedBytesMax, type ReferredFeed, readFeedEntries } from "../readers/referred-geofeeds.ts";
import { readGeofeedReferences } from "../readers/rpsl-references.ts";
import { type SourceConfig, shownUrl } from "../sources/index.ts";
import { replaceFile, urlDigestOf } from "./download-folder.ts";
import { type FetchContext, fetchSource } from "./fetch-source.ts";

/** What may be asked for in one refresh, over all geofeeds of a source and of each of their hosts. */
export interface FeedBounds {
  readonly feedsMax: number;
  readonly hostFeedsMax: number;
  /** Over the wire, and as much may be kept on the disk. */
  readonly bytesMax: number;
  readonly hostBytesMax: number;
  readonly secondsMax: number;
  readonly hostSecondsMax: number;
  readonly feedSecondsMax: number;
  readonly feedBytesMax: number;
}

export const feedBounds: FeedBounds = {
  feedsMax: 20_000,
  hostFeedsMax: 2_000,
  bytesMax: 2 * 2 ** 30,
  hostBytesMax: 2 ** 28,
  secondsMax: 1_800,
  hostSecondsMax: 300,
  feedSecondsMax: 20,
  feedBytesMax,
};

/** Servers asked at a time; one request at a time to each. */
const hostsAtOnce = 16;
/** A server of a geofeed that is silent for so long is away. */
const stallMs = 10_000;
/** A geofeed that lost more than this share of its entries, and more than so many, may be cut: it is used once it has been like this for a day. */
const shrinkMax = 0.5;
const lossFree = 50;
const shrunkMs = 86_400_000;

interface ShrunkVersion {
  readonly entries: number;
  readonly since: number;
}

/** As it was when it was last asked for. */
interface FeedRecord {
  readonly url: string;
  /** Of the last good version; null: there is none. */
  readonly sha256: string | null;
  readonly bytes: number;
  /** Of the last good version; absent: it is not known. */
  readonly entries?: number;
  /** A version that lost too many of them: how many it had, and since when it is like this, in Unix ms. Absent: there is none. */
  readonly shrunk?: ShrunkVersion;
  readonly error: string | null;
  /** Unix ms; 0: never. */
  readonly checkedAt: number;
}

interface FeedList {
  /** The dump that refers to them. */
  readonly dump: string;
  readonly feeds: readonly FeedRecord[];
}

/** How a refresh went. */
export interface FeedsOutcome {
  readonly feeds: number;
  readonly failed: number;
  /** The first failure, with its URL; null: there is none. */
  readonly firstError: string | null;
}

export class ReferredFeeds {
  readonly #folder: string;

  constructor(downloads: string, source: string) {
    this.#folder = join(downloads, source, "feeds");
  }

  /** The geofeeds that a run may read; none where nothing was fetched. */
  async list(): Promise<ReferredFeed[]> {
    return (await this.#read()).feeds.map(({ url, sha256, error }) => ({
      url,
      sha256,
      error,
      path: sha256 === null ? null : keptPath(this.#folder, sha256),
    }));
  }

  /**
   * Reads the dump if it is another one than before, and asks for each geofeed that it refers to, those first that were not asked for the longest time.
   * What fails is noted, and its last good version stays. A dump that cannot be read leaves the list as it was: the run tells why.
   *
   * @throws what `signal` was aborted with.
   */
  async refresh(
    dump: { readonly path: string; readonly sha256: string },
    source: Pick<SourceConfig, "bytesMax" | "secondsMax" | "badRecordsMax">,
    context: FetchContext & { readonly signal: AbortSignal },
    bounds: FeedBounds = feedBounds,
  ): Promise<FeedsOutcome> {
    const { signal } = context;
    await mkdir(join(this.#folder, "kept"), { recursive: true });
    const before = await this.#read();
    await removeOthers(join(this.#folder, "kept"), new Set(before.feeds.map(({ sha256 }) => sha256)));
    const list =
      before.dump === dump.sha256 ? before : { dump: dump.sha256, feeds: await this.#referredBy(dump.path, source, before, signal) };
    const round = new FeedRound(this.#folder, list.feeds, context, bounds);
    try {
      await round.run();
    } finally {
      // What was fetched until it was stopped is known.
      await replaceFile(join(this.#folder, "feeds.json"), { dump: list.dump, feeds: round.records() } satisfies FeedList);
    }
    signal.throwIfAborted();
    const feeds = round.records();
    await removeOthers(this.#folder, new Set(["feeds.json", "kept", ...feeds.map(({ url }) => urlDigestOf(url))]));
    const failed = feeds.filter(({ error }) => error !== null);
    const [first] = failed;
    return { feeds: feeds.length, failed: failed.length, firstError: first === undefined ? null : `${first.url}: ${first.error}` };
  }

  async #referredBy(
    path: string,
    { bytesMax, secondsMax, badRecordsMax }: Pick<SourceConfig, "bytesMax" | "secondsMax" | "badRecordsMax">,
    before: FeedList,
    signal: AbortSignal,
  ): Promise<readonly FeedRecord[]> {
    const known = new Map(before.feeds.map((feed) => [feed.url, feed]));
    const urls = new Set<string>();
    try {
      const chunks = stoppable(openContent(path).stream, signal);
      const { references } = await readGeofeedReferences({ file: path, chunks, bytesMax, secondsMax, badRecordsMax });
      for (const { url } of references) urls.add(url);
    } catch {
      signal.throwIfAborted();
      return before.feeds;
    }
    return [...urls].sort().map((url) => known.get(url) ?? { url, sha256: null, bytes: 0, error: null, checkedAt: 0 });
  }

  async #read(): Promise<FeedList> {
    try {
      return JSON.parse(await readFile(join(this.#folder, "feeds.json"), "utf8")) as FeedList;
    } catch {
      return { dump: "", feeds: [] };
    }
  }
}

async function removeOthers(folder: string, named: ReadonlySet<string | null>): Promise<void> {
  for (const name of await readdir(folder)) if (!named.has(name)) await rm(join(folder, name), { recursive: true, force: true });
}

async function* stoppable(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    yield chunk;
  }
}

/** Tells one version of a dump and its geofeeds from others. */
export function referredVersion(dump: string, feeds: readonly ReferredFeed[]): string {
  const digest = createHash("sha256").update(dump);
  for (const { url, sha256 } of feeds) if (sha256 !== null) digest.update(`\n${url} ${sha256}`);
  return digest.digest("hex");
}

/** Nothing of the source's own settings: those are for the server of the dump. */
const feedSettings = {
  everySeconds: 0,
  allowPrivate: false,
  allowDowngrade: false,
  md5: "no",
  caFile: null,
  authorizationFile: null,
} as const;

/** By its content. A version that is not listed any more stays until the next refresh, as a run may be reading it. */
function keptPath(folder: string, sha256: string): string {
  return join(folder, "kept", sha256);
}

/** How many entries a geofeed has, or what is wrong with it. */
async function entriesIn(path: string): Promise<number | string> {
  try {
    return (await readFeedEntries(path)).entries.length;
  } catch (error) {
    return (error as Error).message.replaceAll(`${path}: `, "");
  }
}

function isShrunk(entries: number, before: number | undefined): boolean {
  return before !== undefined && entries < before * (1 - shrinkMax) && before - entries > lossFree;
}

/** A version with too few entries; null: it is not, or has been like this for long enough to be meant. */
function shrunkSince({ entries: before, shrunk }: FeedRecord, entries: number, now: number): ShrunkVersion | null {
  if (!isShrunk(entries, before)) return null;
  const since = shrunk === undefined || isShrunk(entries, shrunk.entries) ? now : shrunk.since;
  return now - since >= shrunkMs ? null : { entries, since };
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/** What a host, or all of them, have used up of a refresh. */
class Used {
  feeds = 0;
  bytes = 0;
  kept = 0;
  ms = 0;
}

class FeedRound {
  readonly #folder: string;
  readonly #context: FetchContext & { readonly signal: AbortSignal };
  readonly #bounds: FeedBounds;
  readonly #records: Map<string, FeedRecord>;
  readonly #started = performance.now();
  readonly #all = new Used();

  constructor(folder: string, feeds: readonly FeedRecord[], context: FetchContext & { readonly signal: AbortSignal }, bounds: FeedBounds) {
    this.#folder = folder;
    this.#context = context;
    this.#bounds = bounds;
    this.#records = new Map(feeds.map((feed) => [feed.url, feed]));
    for (const { bytes } of feeds) this.#all.kept += bytes;
  }

  records(): FeedRecord[] {
    return [...this.#records.values()];
  }

  async run(): Promise<void> {
    const waiting = this.records().sort((a, b) => a.checkedAt - b.checkedAt);
    const byHost = Map.groupBy(waiting, ({ url }) => new URL(url).host).values();
    let done = 0;
    const work = async (): Promise<void> => {
      for (const feeds of byHost) {
        const host = new Used();
        for (const { bytes } of feeds) host.kept += bytes;
        for (const feed of feeds) {
          if (this.#context.signal.aborted) return;
          this.#records.set(feed.url, await this.#ask(feed, host));
          this.#context.onProgress?.({ label: "fetch geofeeds", done: ++done, total: waiting.length, unit: "steps" });
        }
      }
    };
    await Promise.all(Array.from({ length: hostsAtOnce }, work));
  }

  async #ask(feed: FeedRecord, host: Used): Promise<FeedRecord> {
    const bound = this.#boundMet(host);
    if (bound !== null) return { ...feed, error: `was not asked for: ${bound}` };
    const { url } = feed;
    const name = urlDigestOf(url);
    const started = performance.now();
    let received = 0;
    const { feedBytesMax: bytesMax, feedSecondsMax: secondsMax } = this.#bounds;
    const checkedAt = this.#context.now?.() ?? Date.now();
    host.feeds++;
    this.#all.feeds++;
    const folder = join(this.#folder, name);
    const onProgress = ({ done }: { readonly done: number }) => {
      received = Math.max(received, done);
    };
    try {
      const source = { name, bytesMax, secondsMax, fetch: { url, ...feedSettings } };
      const { path, file } = await fetchSource(source, { stallMs, ...this.#context, downloads: this.#folder, onProgress });
      const entries = await entriesIn(path);
      const shrunk = typeof entries === "number" ? shrunkSince(feed, entries, checkedAt) : null;
      if (typeof entries === "string" || shrunk !== null) {
        // What is not used would be kept beside each good one.
        await rm(folder, { recursive: true, force: true });
        const error =
          typeof entries === "string"
            ? entries
            : `has ${entries} entries, compared with ${feed.entries} before; it is used if it stays so for a day`;
        return { ...feed, error, checkedAt, ...(shrunk !== null && { shrunk }) };
      }
      await link(path, keptPath(this.#folder, file.sha256)).catch(unlessThere);
      host.kept += file.bytes - feed.bytes;
      this.#all.kept += file.bytes - feed.bytes;
      return { url, sha256: file.sha256, bytes: file.bytes, entries, error: null, checkedAt };
    } catch (error) {
      if (this.#context.signal.aborted) return feed;
      // The rest of what is too long or too slow is of no use.
      for (const partial of ["partial", "partial.json"]) await rm(join(folder, partial), { force: true });
      return { ...feed, error: (error as Error).message.replaceAll(`${shownUrl(url)}: `, ""), checkedAt };
    } finally {
      host.bytes += received;
      this.#all.bytes += received;
      host.ms += performance.now() - started;
    }
  }

  /** The bound that is reached; null: none. */
  #boundMet(host: Used): string | null {
    const { feedsMax, hostFeedsMax, bytesMax, hostBytesMax, secondsMax, hostSecondsMax } = this.#bounds;
    if (this.#all.feeds >= feedsMax) return `a source has at most ${feedsMax} geofeeds`;
    if (host.feeds >= hostFeedsMax) return `a host has at most ${hostFeedsMax} geofeeds`;
    if (Math.max(this.#all.bytes, this.#all.kept) >= bytesMax) return `the geofeeds of a source have at most ${bytesMax} bytes`;
    if (Math.max(host.bytes, host.kept) >= hostBytesMax) return `the geofeeds of a host have at most ${hostBytesMax} bytes`;
    if (performance.now() - this.#started >= secondsMax * 1_000) return `all geofeeds take at most ${secondsMax} s`;
    if (host.ms >= hostSecondsMax * 1_000) return `the geofeeds of a host take at most ${hostSecondsMax} s`;
    return null;
  }
}
