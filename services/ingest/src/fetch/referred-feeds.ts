/**
 * The geofeeds that a registry dump refers to (RFC 9632): each is fetched into its own folder, and its last good version is kept.
 *
 *     <downloads>/<source>/feeds/feeds.json     the URLs that the dump refers to, and the last outcome of each
 *                                <URL digest>/  the downloads of one geofeed (`download-folder.ts`)
 *                                kept/<sha256>  the last good version of each, which runs read
 *
 * Strangers choose the URLs. Therefore the bounds here are small, and no setting of the source allows private addresses for them.
 */

import { createHash } from "node:crypto";
import { link, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { timestamp } from "@netfacts/contracts";
import { feedBytesMax, feedReadSecondsMax } from "../readers/feed-entries.ts";
import type { ReferredFeed } from "../readers/referred-geofeeds.ts";
import { type SourceConfig, shownUrl } from "../sources/index.ts";
import { replaceFile, urlDigestOf } from "./download-folder.ts";
import { type FeedSize, FeedThread } from "./feed-thread.ts";
import { FetchError } from "./fetch-error.ts";
import { type FetchContext, type FetchOutcome, fetchSource } from "./fetch-source.ts";

/** Bounds of one refresh: for all geofeeds of a source, for those of each host, and for each geofeed. */
export interface FeedBounds {
  readonly feedsMax: number;
  readonly hostFeedsMax: number;
  /** Bytes received over the network; also the most that may be kept on the disk. */
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

/** The list may have this many times `feedsMax`; its geofeeds are then fetched in turn. */
const listedPerAsked = 2;
/** Readers stop by themselves. A file that prevents its reader from looking at the clock is stopped after this further time. */
const graceSeconds = 10;
/** Most servers that are asked at the same time; each gets one request at a time. */
const hostsAtOnce = 16;
/** A server of a geofeed that sends nothing for this time is unavailable. */
const stallMs = 10_000;
/**
 * A geofeed that lost more than this share of its entries, and more than `lossFree`, may be truncated. It is used when it has stayed like this for a
 * day.
 */
const shrinkMax = 0.5;
const lossFree = 50;
const shrunkMs = 86_400_000;

interface ShrunkVersion {
  readonly entries: number;
  readonly since: number;
}

/** The state of a geofeed at its last fetch. */
interface FeedRecord {
  readonly url: string;
  /** Digest of the last good version; null: there is none. */
  readonly sha256: string | null;
  readonly bytes: number;
  /** Entries of the last good version; absent: unknown. */
  readonly entries?: number;
  /** Effort of reading the last good version; absent: unknown, so that the version is read once more. */
  readonly effort?: number;
  /** A version that lost too many entries: their number, and the time since when it is like this, in Unix ms. Absent: there is none. */
  readonly shrunk?: ShrunkVersion;
  readonly error: string | null;
  /** Unix ms; 0: never. */
  readonly checkedAt: number;
}

interface FeedList {
  /** The dump that refers to them, and how it was read (`readingOf`). Earlier releases noted only its SHA-256. */
  readonly dump: string;
  /** Time of the last round, and the reading of the dump then, also if it failed. Absent: there was none, or it was by an earlier release. */
  readonly round?: { readonly reading: string; readonly at: number } | undefined;
  readonly feeds: readonly FeedRecord[];
}

/** Outcome of a refresh. */
export interface FeedsOutcome {
  readonly feeds: number;
  readonly failed: number;
  /** The first failure, with its URL; null: there is none. */
  readonly firstError: string | null;
}

/** The geofeeds that runs may read, at one point in time. */
export interface FeedsNow {
  readonly feeds: readonly ReferredFeed[];
  /** `referredVersion` of a dump with these geofeeds. */
  readonly versionOf: (dump: string) => string;
}

/** Caches the list that it last read: a process has one object for each source. */
export class ReferredFeeds {
  readonly #folder: string;
  /** @see stampOf */
  #stamp: string | null = null;
  #now: FeedsNow = feedsNow([]);

  constructor(downloads: string, source: string) {
    this.#folder = join(downloads, source, "feeds");
  }

  /** The geofeeds that a run may read; empty if nothing was fetched. Cost: a look at one file, unless it changed. */
  async now(): Promise<FeedsNow> {
    const stamp = await stampOf(this.#listPath);
    if (stamp === this.#stamp) return this.#now;
    const { feeds } = await this.#read();
    this.#now = feedsNow(
      feeds.map(({ url, sha256, error, entries, effort }) => ({
        url,
        sha256,
        error,
        path: sha256 === null ? null : keptPath(this.#folder, sha256),
        ...(entries !== undefined && { entries }),
        ...(effort !== undefined && { effort }),
      })),
    );
    // A change meanwhile gives another stamp. An empty list is not cached, since it may be one that could not be read.
    this.#stamp = feeds.length === 0 ? null : stamp;
    return this.#now;
  }

  get #listPath(): string {
    return join(this.#folder, "feeds.json");
  }

  /**
   * Reads the dump if it or its bounds have changed, and fetches each geofeed that it refers to; those that were not fetched for the longest time
   * come first. A failure is noted, and the last good version stays. If the dump cannot be read, the list stays as it was, and the run reports why.
   *
   * A separate thread reads the dump and the geofeeds, one after the other.
   *
   * @param context  `restMs`: time since the last round within which nothing is done, unless the dump or its bounds have changed
   * @returns null: nothing was done.
   * @throws the reason of `signal`; an error when the thread that reads the dump failed.
   */
  async refresh(
    dump: { readonly path: string; readonly sha256: string },
    source: DumpBounds,
    { restMs = 0, ...context }: FetchContext & { readonly signal: AbortSignal; readonly restMs?: number },
    bounds: FeedBounds = feedBounds,
  ): Promise<FeedsOutcome | null> {
    const { signal } = context;
    const before = await this.#read();
    const reading = readingOf(dump.sha256, source);
    const now = context.now?.() ?? Date.now();
    if (before.round?.reading === reading && Math.abs(now - before.round.at) < restMs) return null;
    await mkdir(join(this.#folder, "kept"), { recursive: true });
    await removeOthers(join(this.#folder, "kept"), new Set(before.feeds.map(({ sha256 }) => sha256)));
    const thread = new FeedThread(signal);
    try {
      const urlsMax = listedPerAsked * bounds.feedsMax;
      const found =
        before.dump === reading ? before.feeds : await referredBy(dump.path, { before: before.feeds, bounds: source, urlsMax, thread });
      const round = new FeedRound(this.#folder, found ?? before.feeds, { ...context, thread }, bounds);
      try {
        await round.run();
      } finally {
        // Geofeeds that were fetched before a stop are noted.
        const list: FeedList = {
          dump: found === null ? before.dump : reading,
          round: signal.aborted ? before.round : { reading, at: now },
          feeds: round.records(),
        };
        await replaceFile(this.#listPath, list);
      }
      signal.throwIfAborted();
      const feeds = round.records();
      await removeOthers(this.#folder, new Set(["feeds.json", "kept", ...feeds.map(({ url }) => urlDigestOf(url))]));
      const failed = feeds.filter(({ error }) => error !== null);
      const [first] = failed;
      return { feeds: feeds.length, failed: failed.length, firstError: first === undefined ? null : `${first.url}: ${first.error}` };
    } finally {
      await thread.close();
    }
  }

  async #read(): Promise<FeedList> {
    try {
      return JSON.parse(await readFile(this.#listPath, "utf8")) as FeedList;
    } catch {
      return { dump: "", feeds: [] };
    }
  }
}

async function removeOthers(folder: string, named: ReadonlySet<string | null>): Promise<void> {
  for (const name of await readdir(folder)) if (!named.has(name)) await rm(join(folder, name), { recursive: true, force: true });
}

type DumpBounds = Pick<SourceConfig, "bytesMax" | "secondsMax" | "badRecordsMax">;

/** Identifies a reading of a dump. */
function readingOf(sha256: string, { bytesMax, secondsMax, badRecordsMax }: DumpBounds): string {
  return [sha256, bytesMax, secondsMax, badRecordsMax].join(" ");
}

/** The geofeeds that a dump refers to, with their known state; null if the dump cannot be read. */
async function referredBy(
  path: string,
  {
    before,
    bounds,
    urlsMax,
    thread,
  }: {
    readonly before: readonly FeedRecord[];
    readonly bounds: DumpBounds;
    readonly urlsMax: number;
    readonly thread: FeedThread;
  },
): Promise<readonly FeedRecord[] | null> {
  const { bytesMax, secondsMax, badRecordsMax } = bounds;
  const work = { kind: "references", path, bounds: { bytesMax, secondsMax, badRecordsMax }, urlsMax } as const;
  const answer = await thread.read(work, secondsMax + graceSeconds);
  if (!answer.ok && answer.isThread) throw new Error(`the geofeeds that it refers to are not known: ${answer.message}`);
  if (!answer.ok) return null;
  const known = new Map(before.map((feed) => [feed.url, feed]));
  return answer.value.map((url) => known.get(url) ?? { url, sha256: null, bytes: 0, error: null, checkedAt: 0 });
}

/** Changes whenever the file is replaced; empty if there is none. */
async function stampOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? "" : `${found.ino} ${found.size} ${found.mtimeNs}`;
}

function feedsNow(feeds: readonly ReferredFeed[]): FeedsNow {
  const versions = new Map<string, string>();
  const versionOf = (dump: string): string => {
    const version = versions.get(dump) ?? referredVersion(dump, feeds);
    versions.set(dump, version);
    return version;
  };
  return { feeds, versionOf };
}

/** Identifies a version of a dump together with its geofeeds. */
export function referredVersion(dump: string, feeds: readonly ReferredFeed[]): string {
  const digest = createHash("sha256").update(dump);
  for (const { url, sha256 } of feeds) if (sha256 !== null) digest.update(`\n${url} ${sha256}`);
  return digest.digest("hex");
}

/** The source's own settings are not used: they are for the server of the dump. */
const feedSettings = {
  everySeconds: 0,
  allowPrivate: false,
  allowDowngrade: false,
  md5: "no",
  caFile: null,
  authorizationFile: null,
} as const;

/** Path by content. A version that is no longer listed stays until the next refresh, since a run may be reading it. */
function keptPath(folder: string, sha256: string): string {
  return join(folder, "kept", sha256);
}

function isShrunk(entries: number, before: number | undefined): boolean {
  return before !== undefined && entries < before * (1 - shrinkMax) && before - entries > lossFree;
}

/** Describes a version with too few entries; null: it has enough, or has stayed like this for so long that it is meant. */
function shrunkSince({ entries: before, shrunk }: FeedRecord, entries: number, now: number): ShrunkVersion | null {
  if (!isShrunk(entries, before)) return null;
  const since = shrunk === undefined || isShrunk(entries, shrunk.entries) ? now : Math.min(now, shrunk.since);
  return now - since >= shrunkMs ? null : { entries, since };
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

/** Use of a refresh so far, by one host or by all. */
class Used {
  feeds = 0;
  bytes = 0;
  kept = 0;
  ms = 0;
  /** The server asked not to be contacted before, in Unix ms. */
  pausedUntil = 0;
}

type RoundContext = FetchContext & { readonly signal: AbortSignal; readonly thread: FeedThread };

class FeedRound {
  readonly #folder: string;
  readonly #context: RoundContext;
  readonly #bounds: FeedBounds;
  readonly #records: Map<string, FeedRecord>;
  readonly #started = performance.now();
  readonly #all = new Used();

  constructor(folder: string, feeds: readonly FeedRecord[], context: RoundContext, bounds: FeedBounds) {
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
    const folder = join(this.#folder, urlDigestOf(url));
    const checkedAt = this.#now();
    // A version that is not used would take space next to each good one.
    const unused = async (error: string, more: Pick<FeedRecord, "shrunk"> = {}): Promise<FeedRecord> => {
      await rm(folder, { recursive: true, force: true });
      return { ...feed, error, checkedAt, ...more };
    };
    try {
      const { path, file } = await this.#fetch(url, host);
      const size = await this.#sizeOf(feed, { path, sha256: file.sha256 }, host);
      if (typeof size === "string") return await unused(size);
      const { entries, effort } = size;
      const shrunk = shrunkSince(feed, entries, checkedAt);
      if (shrunk !== null)
        return await unused(`has ${entries} entries, compared with ${feed.entries} before; it is used if it stays so for a day`, {
          shrunk,
        });
      await link(path, keptPath(this.#folder, file.sha256)).catch(unlessThere);
      host.kept += file.bytes - feed.bytes;
      this.#all.kept += file.bytes - feed.bytes;
      return { url, sha256: file.sha256, bytes: file.bytes, entries, effort, error: null, checkedAt };
    } catch (error) {
      if (this.#context.signal.aborted) return feed;
      // The rest of a file that is too long or too slow is useless.
      for (const partial of ["partial", "partial.json"]) await rm(join(folder, partial), { force: true });
      return { ...feed, error: (error as Error).message.replaceAll(`${shownUrl(url)}: `, ""), checkedAt };
    }
  }

  async #fetch(url: string, host: Used): Promise<FetchOutcome> {
    const { thread, ...context } = this.#context;
    const { feedBytesMax: bytesMax, feedSecondsMax: secondsMax } = this.#bounds;
    const started = performance.now();
    let received = 0;
    const onProgress = ({ done }: { readonly done: number }) => {
      received = Math.max(received, done);
    };
    host.feeds++;
    this.#all.feeds++;
    try {
      const source = { name: urlDigestOf(url), bytesMax, secondsMax, fetch: { url, ...feedSettings } };
      return await fetchSource(source, { stallMs, ...context, downloads: this.#folder, onProgress });
    } catch (error) {
      if (error instanceof FetchError) host.pausedUntil = this.#now() + (error.retryAfterMs ?? 0);
      throw error;
    } finally {
      host.bytes += received;
      this.#all.bytes += received;
      host.ms += performance.now() - started;
    }
  }

  /** Returns the fault as text. A version that was read successfully is not read again. */
  async #sizeOf(
    feed: FeedRecord,
    { path, sha256 }: { readonly path: string; readonly sha256: string },
    host: Used,
  ): Promise<FeedSize | string> {
    const { entries, effort } = feed;
    if (sha256 === feed.sha256 && entries !== undefined && effort !== undefined) return { entries, effort };
    const answer = await this.#context.thread.read({ kind: "geofeed", path }, feedReadSecondsMax + graceSeconds);
    // Without the time of other files that were read before it.
    host.ms += answer.ms;
    return answer.ok ? answer.value : answer.message;
  }

  #now(): number {
    return this.#context.now?.() ?? Date.now();
  }

  /** The bound that is reached, or the pause that the server asked for; null: none is. */
  #boundMet(host: Used): string | null {
    const { feedsMax, hostFeedsMax, bytesMax, hostBytesMax, secondsMax, hostSecondsMax } = this.#bounds;
    if (this.#all.feeds >= feedsMax) return `a source has at most ${feedsMax} geofeeds`;
    if (host.feeds >= hostFeedsMax) return `a host has at most ${hostFeedsMax} geofeeds`;
    if (Math.max(this.#all.bytes, this.#all.kept) >= bytesMax) return `the geofeeds of a source have at most ${bytesMax} bytes`;
    if (Math.max(host.bytes, host.kept) >= hostBytesMax) return `the geofeeds of a host have at most ${hostBytesMax} bytes`;
    if (this.#now() < host.pausedUntil) return `its server asks not to be contacted before ${timestamp(host.pausedUntil)}`;
    if (performance.now() - this.#started >= secondsMax * 1_000) return `all geofeeds take at most ${secondsMax} s`;
    if (host.ms >= hostSecondsMax * 1_000) return `the geofeeds of a host take at most ${hostSecondsMax} s`;
    return null;
  }
}
