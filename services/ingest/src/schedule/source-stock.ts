/** The stock of each source: the versions that are here, and their refresh. A source with a URL is fetched, a local file is looked at. */

import { access, constants, stat } from "node:fs/promises";
import {
  type FetchContext,
  FetchError,
  type FetchOutcome,
  fetchSource,
  fetchSteps,
  noteGood,
  noteUse,
  pathOf,
  ReferredFeeds,
  type RemoteSource,
  readFilesOf,
  removeUnlisted,
} from "../fetch/index.ts";
import { type ReadyFile, type ReadyFiles, readyFile } from "../fetch/ready-files.ts";
import type { IngestMetrics } from "../metrics.ts";
import type { RunReport } from "../pipeline/run-report.ts";
import type { RtrSources } from "../rtr/index.ts";
import { type SourceConfig, sectionOf, storedFormat } from "../sources/index.ts";
import { sha256Of } from "../updates/update-files.ts";
import { type StoredStock, storedFile } from "../uploads/stored-source.ts";
import { afterFailure, afterSuccess, pauseMs } from "./due.ts";
import type { RefusedVersion, SourceState, SourceStates, StateOf } from "./source-state.ts";
import { UpdateStock } from "./update-stock.ts";

export interface SourceStockDeps {
  readonly states: SourceStates;
  readonly fetching: Omit<FetchContext, "signal" | "onProgress">;
  /** Null: nothing is measured. */
  readonly metrics: Pick<
    IngestMetrics,
    "fetches" | "failuresInARow" | "fetchedBytes" | "fetchSeconds" | "sourceSuccess" | "sourceNext" | "listSources"
  > | null;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  readonly clock: { now(): number };
  /** Data of the RTR sessions; absent: there are no sessions, and a run asks the caches itself. */
  readonly rtr?: Pick<RtrSources, "stock" | "fault" | "checks">;
  /** State of the stored uploads; absent: there are none. */
  readonly stored?: StoredStock | undefined;
  readonly random?: () => number;
}

/** Format of dumps that refer to geofeeds. */
const referringFormat = "rpsl-geofeeds";
/** Most servers that are asked at the same time; each gets one request at a time. */
const hostsMax = 4;
/** A version that a run could not use is tried again after this time: the fault may have been ours. */
const refusedMsMax = 86_400_000;

/** Time for which an unlisted source is kept: it may come back, or be in another list that somebody imports by hand. */
const unlistedMsMax = 7 * 86_400_000;
const forgottenEveryMs = 3_600_000;

/** Coarsest unit of the times of files (FAT): a file can be written again within it and keep its time. */
const fileTimeUnitMs = 2_000;

export interface RefreshOptions {
  readonly onProgress?: NonNullable<FetchContext["onProgress"]>;
  /** Called with the name of each source as soon as it is here or has failed. */
  readonly onAnswered?: (source: string) => void;
  /** A person requested it: geofeeds are fetched too, even before they are due. */
  readonly asksForAll?: boolean;
}

type RefreshContext = Required<Omit<RefreshOptions, "onAnswered">> & { readonly signal: AbortSignal };

export class SourceStock {
  readonly #deps: SourceStockDeps;
  readonly #random: () => number;
  readonly #updates: UpdateStock;
  /** By source. */
  readonly #feeds = new Map<string, ReferredFeeds>();
  #forgottenAt: number | null = null;

  constructor(deps: SourceStockDeps) {
    this.#deps = deps;
    this.#updates = new UpdateStock(deps.fetching.downloads);
    this.#random = deps.random ?? Math.random;
  }

  state(source: StateOf): SourceState {
    return this.#deps.states.get(source);
  }

  /** Adds and removes series of metrics, so that there are exactly those of the listed sources. */
  async measure(sources: readonly SourceConfig[]): Promise<void> {
    const { metrics } = this.#deps;
    if (metrics === null) return;
    const listed = sources.map(async (source) => {
      const isRefused = (await this.refusal(source)) !== null;
      return [source.name, { section: sectionOf(source), failures: this.state(source).failures, isRefused }] as const;
    });
    metrics.listSources(new Map(await Promise.all(listed)));
  }

  /** Why the last check failed, or why no RTR session is synchronised; null: neither is the case. */
  fault(source: SourceConfig): string | null {
    return this.state(source).error ?? (source.format === "rtr" ? (this.#deps.rtr?.fault(source.name) ?? null) : null);
  }

  /** The last check, or the last attempts of an RTR session. */
  checks(source: SourceConfig): Pick<SourceState, "checkedAt" | "succeededAt" | "failures"> {
    return (source.format === "rtr" ? this.#deps.rtr?.checks(source.name) : undefined) ?? this.state(source);
  }

  /** Why a run could not use the newest version that is here; null: it could, or no run has tried. */
  async refusal(source: SourceConfig, newest = this.newest(source)): Promise<string | null> {
    const { refused } = this.state(source);
    const [last] = refused;
    if (last === undefined) return null;
    // A refused file of updates has a digest of its own, which is never the version of all files.
    if (source.section === "updates") return last.error;
    const file = await newest;
    return (file === null ? last : refused.find(({ sha256 }) => sha256 === file.sha256))?.error ?? null;
  }

  /** The newest version that is here, also one that a run could not use; null: there is none, or it cannot be read now. */
  newest(source: SourceConfig): Promise<ReadyFile | null> {
    return this.ready(source, true).catch(() => null);
  }

  /**
   * Fetches or looks at the newest version of each source. Faults are noted, logged and counted.
   *
   * @returns the faults, by source. Rejects when it was stopped.
   */
  async refresh(
    sources: readonly SourceConfig[],
    signal: AbortSignal,
    { onProgress = () => undefined, onAnswered = () => undefined, asksForAll = false }: RefreshOptions = {},
  ): Promise<Map<string, Error>> {
    const faults = new Map<string, Error>();
    try {
      await this.#refreshAll(sources, { signal, onProgress, asksForAll }, (name, fault) => {
        if (fault !== null) faults.set(name, fault);
        onAnswered(name);
      });
    } finally {
      await this.#deps.states.save().catch((err: unknown) => this.#deps.log.error({ err }, "the state of the sources could not be saved"));
    }
    return faults;
  }

  async #refreshAll(
    sources: readonly SourceConfig[],
    context: RefreshContext,
    onAnswered: (source: string, fault: Error | null) => void,
  ): Promise<void> {
    // RTR sessions receive their data; without a session, the run asks the cache.
    const sessionless = sources.filter(({ format }) => format !== "rtr" && format !== storedFormat);
    // Sources with the shortest interval come first, so that VRPs do not wait for a table of routes from the same server.
    const asked = sessionless.toSorted((a, b) => a.intervalSeconds - b.intervalSeconds);
    // Tables come first: they decide which updates are needed.
    for (const isUpdates of [false, true]) {
      const turn = asked.filter(({ section }) => (section === "updates") === isUpdates);
      const byHost = Map.groupBy(turn, hostOf).values();
      const work = async (): Promise<void> => {
        for (const group of byHost) {
          for (const source of group) onAnswered(source.name, await this.#refreshOne(source, context));
        }
      };
      const workers = Array.from({ length: hostsMax }, work);
      // After a stop, all workers end first, so that the state is saved after the last change.
      await Promise.all(workers).finally(() => Promise.allSettled(workers));
      context.signal.throwIfAborted();
    }
  }

  /** The last good version of a required source that was fetched, for use if a run could not use a newer one; null: there is none. */
  async earlier(source: SourceConfig, beside?: string): Promise<ReadyFile | null> {
    return source.fetch === undefined || source.section === "updates" ? null : this.ready({ ...source, required: false }, false, beside);
  }

  /** Removes the data of sources that have not been listed for a week. Does so at most once an hour, and never rejects. */
  async forgetUnlisted(sources: readonly SourceConfig[]): Promise<void> {
    const { states, fetching, clock, log } = this.#deps;
    const now = clock.now();
    if (this.#forgottenAt !== null && Math.abs(now - this.#forgottenAt) < forgottenEveryMs) return;
    this.#forgottenAt = now;
    const [listed, before] = [new Set(sources.map(({ name }) => name)), now - unlistedMsMax];
    try {
      const removed = await removeUnlisted(fetching.downloads, listed, { now, before });
      if (removed.length > 0) log.info({ sources: removed }, "downloads of sources that are not listed any more were removed");
      states.forget(listed, before);
      await states.save();
    } catch (err) {
      log.warn({ err }, "downloads of sources that are not listed any more cannot be removed; retrying in an hour");
    }
  }

  /**
   * The file that a run may read of the source; null: there is none.
   *
   * @param all  also versions that an earlier run could not use
   * @param beside  `ReadyFile.beside`; absent: whether the source can be used does not depend on other files
   */
  async ready(source: SourceConfig, all = false, beside?: string): Promise<ReadyFile | null> {
    if (source.format === "rtr") return this.#readyOfSession(source, all);
    if (source.format === storedFormat) return this.#readyOfStored(all);
    if (source.appliesTo !== undefined) return this.#readyUpdates(source, source.appliesTo, all);
    const { file } = this.state(source);
    if (source.format === referringFormat) {
      const { feeds, versionOf } = await this.#feedsOf(source).now();
      const ready = await this.#readyFileOf(source, file, (sha256) => all || !this.#isRefused(source, versionOf(sha256)));
      if (ready === null) return null;
      const lastGood = ready.lastGood && { ...ready.lastGood, sha256: versionOf(ready.lastGood.sha256) };
      return { ...ready, referred: { feeds, dumpSha256: ready.sha256 }, sha256: versionOf(ready.sha256), lastGood };
    }
    const ready = await this.#readyFileOf(source, file, (sha256) => all || !this.#isRefused(source, sha256, beside));
    return ready === null || beside === undefined ? ready : { ...ready, beside };
  }

  async #readyFileOf(source: SourceConfig, file: SourceState["file"], isUsable: (sha256: string) => boolean): Promise<ReadyFile | null> {
    if (source.fetch === undefined) {
      if (file === null || !isUsable(file.sha256)) return null;
      return { location: source.location, sha256: file.sha256, url: null, fetchedAt: null, lastGood: null };
    }
    const { downloads } = this.#deps.fetching;
    const { latest, good } = await readFilesOf(downloads, source.name);
    // A version that was good before may be refused now, beside other sources.
    const usable = [latest, source.required ? null : good].find((file) => file !== null && isUsable(file.sha256));
    if (usable == null) return null;
    const isOther = good !== null && !source.required && good.sha256 !== usable.sha256;
    const lastGood = isOther ? { location: pathOf(downloads, source.name, good), sha256: good.sha256 } : null;
    const { sha256, url, fetchedAt } = usable;
    const ready = { location: pathOf(downloads, source.name, usable), sha256, url, fetchedAt, lastGood };
    return usable === latest ? ready : { ...ready, isEarlier: true };
  }

  /**
   * Notes from the report of a run which versions are good, and which it could not use. A failure of one source, as on a full disk, leaves out no other:
   * a refusal that is not noted would begin the same run again.
   *
   * @throws the first failure, at the end.
   */
  async settle(sources: readonly SourceConfig[], files: ReadyFiles, report: RunReport | null): Promise<void> {
    const failures: unknown[] = [];
    for (const source of sources) await this.#settleOne(source, files, report).catch((error: unknown) => failures.push(error));
    await this.#deps.states.save().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  async #settleOne(source: SourceConfig, files: ReadyFiles, report: RunReport | null): Promise<void> {
    const { states, fetching, log, clock } = this.#deps;
    const told = report?.sources.find(({ name }) => name === source.name);
    const file = readyFile(files, source.name);
    if (told === undefined || file === undefined || file.givenUp !== undefined) return;
    const refusedFile = told.updates?.refused_file ?? null;
    if (told.sha256 === file.sha256 && told.error === null) {
      const isTaken = report?.sections.some(({ name, refused }) => name === sectionOf(source) && refused !== null) !== true;
      if (report?.snapshot != null && isTaken && source.fetch !== undefined && source.section !== "updates")
        await noteGood(fetching.downloads, source.name, file.referred?.dumpSha256 ?? file.sha256);
      // A good earlier version says nothing about the newest one.
      const refused = this.state(source).refused.filter(({ sha256 }) => file.isEarlier === true && sha256 !== file.sha256);
      if (refused.length < this.state(source).refused.length) states.change(source, { refused });
      return;
    }
    // The run left out a file that was refused before.
    if (told.error === null || (refusedFile !== null && refusedFile === file.updates?.refused?.file)) return;
    const sha256 = (refusedFile === null ? null : this.#updates.digestOf(refusedFile)) ?? file.sha256;
    // The file was written while the run read it.
    const isOtherNow = told.state === "failed" && told.sha256 !== null && told.sha256 !== file.sha256;
    const isAway = isOtherNow || (this.state(source).file !== null && !(await canBeRead(source)));
    const refused = {
      sha256,
      bounds: boundsOf(source),
      error: told.error,
      at: clock.now(),
      beside: file.beside,
      ...(isAway && { isAway }),
    };
    // If the list of versions cannot be read now, the other version is tried again.
    const here = await this.#versionsOf(source).catch((): string[] => []);
    const isOther = (version: string) => here.includes(version) && version !== sha256 && version !== told.sha256;
    states.change(source, { refused: [refused, ...this.state(source).refused.filter((one) => isOther(one.sha256))] });
    const fields = { source: source.name, location: refusedFile ?? file.url ?? file.location, sha256, reason: told.error };
    log.warn(fields, "a version of a source cannot be used; the schedule waits for another one");
  }

  /** The versions of a fetched source that `ready` chooses from. */
  async #versionsOf(source: SourceConfig): Promise<readonly string[]> {
    if (source.fetch === undefined || source.section === "updates") return [];
    const { latest, good } = await readFilesOf(this.#deps.fetching.downloads, source.name);
    const files = [latest, good].filter((file) => file !== null).map(({ sha256 }) => sha256);
    return source.format === referringFormat ? files.map((await this.#feedsOf(source).now()).versionOf) : files;
  }

  /** The updates that apply to the version of their table that a run would read. */
  async #readyUpdates(source: SourceConfig, table: SourceConfig, all: boolean): Promise<ReadyFile | null> {
    const ready = await this.ready(table, all);
    if (ready === null) return null;
    const refused = all ? undefined : this.state(source).refused.find(({ sha256 }) => this.#isRefused(source, sha256));
    return this.#updates.ready(source, ready.location, refused ?? null);
  }

  /** A version that a run failed with is tried again, because the fault was the store's. */
  async #readyOfStored(all: boolean): Promise<ReadyFile | null> {
    const version = (await this.#deps.stored?.version(all)) ?? null;
    return version === null ? null : storedFile(version);
  }

  #readyOfSession(source: SourceConfig, all: boolean): ReadyFile | null {
    const stock = this.#deps.rtr?.stock(source.name) ?? null;
    if (stock === null) return null;
    if (stock.kind === "given-up") return { location: "", sha256: "", url: null, fetchedAt: null, lastGood: null, givenUp: stock.reason };
    const { path: location, sha256, cache: url, updatedAt: fetchedAt } = stock;
    return !all && this.#isRefused(source, sha256) ? null : { location, sha256, url, fetchedAt, lastGood: null };
  }

  #isRefused(source: SourceConfig, sha256: string, beside?: string): boolean {
    const refused = this.state(source).refused.find((version) => version.sha256 === sha256);
    if (refused === undefined || refused.bounds !== boundsOf(source) || refused.beside !== beside) return false;
    return Math.abs(this.#deps.clock.now() - refused.at) < refusedMsMax;
  }

  /** @returns the fault; null: it succeeded. Rejects when it was stopped. */
  async #refreshOne(source: SourceConfig, context: RefreshContext): Promise<Error | null> {
    const { states, clock, metrics, log } = this.#deps;
    const { signal, onProgress } = context;
    signal.throwIfAborted();
    const { name } = source;
    try {
      await noteUse(this.#deps.fetching.downloads, name, clock.now());
      if (source.fetch === undefined) await this.#look(source);
      else if (source.appliesTo !== undefined && source.fetch.everySeconds > 0)
        await this.#fetchUpdates({ ...source, fetch: source.fetch }, source.appliesTo, signal, onProgress);
      else await this.#fetch({ ...source, fetch: source.fetch }, signal, onProgress);
      if (source.format === referringFormat) await this.#refreshFeeds(source, context);
      const now = clock.now();
      const nextAt = now + afterSuccess(source, this.#random);
      metrics?.sourceSuccess.set({ source: name }, now / 1_000);
      metrics?.sourceNext.set({ source: name }, nextAt / 1_000);
      metrics?.failuresInARow.set({ source: name }, 0);
      states.change(source, { checkedAt: now, succeededAt: now, nextAt, pausedUntil: null, failures: 0, error: null });
      return null;
    } catch (error) {
      signal.throwIfAborted();
      const { message } = error as Error;
      const pause = pauseMs(source, error instanceof FetchError ? error.retryAfterMs : null);
      const failures = this.state(source).failures + 1;
      const now = clock.now();
      const nextAt = now + afterFailure(source, failures, pause, this.#random);
      metrics?.fetches.inc({ source: name, outcome: "failed" });
      metrics?.failuresInARow.set({ source: name }, failures);
      metrics?.sourceNext.set({ source: name }, nextAt / 1_000);
      const fields = { source: name, reason: message, failures, required: source.required, next_try: new Date(nextAt).toISOString() };
      // No copy of a local file is kept.
      const effect = source.required || source.fetch !== undefined ? "" : " until their section is next built, which leaves the source out";
      if (failures === 1 || source.fetch !== undefined)
        log.warn(fields, `a source is unavailable; its last good data, if any, remain in use${effect}`);
      states.change(source, { checkedAt: now, nextAt, pausedUntil: pause > 0 ? now + pause : null, failures, error: message });
      return error as Error;
    }
  }

  async #fetch(source: RemoteSource, signal: AbortSignal, onProgress: NonNullable<FetchContext["onProgress"]>): Promise<void> {
    this.#noteFetch(source.name, await fetchSource(source, { ...this.#deps.fetching, signal, onProgress }));
  }

  #feedsOf({ name }: SourceConfig): ReferredFeeds {
    const feeds = this.#feeds.get(name) ?? new ReferredFeeds(this.#deps.fetching.downloads, name);
    this.#feeds.set(name, feeds);
    return feeds;
  }

  /** A geofeed that fails is not a fault of its source. */
  async #refreshFeeds(source: SourceConfig, { signal, onProgress, asksForAll }: RefreshContext): Promise<void> {
    const { fetching, log } = this.#deps;
    const { file } = this.state(source);
    const { latest } = await readFilesOf(fetching.downloads, source.name);
    const dump =
      source.fetch === undefined
        ? file && { path: source.location, sha256: file.sha256 }
        : latest && { path: pathOf(fetching.downloads, source.name, latest), sha256: latest.sha256 };
    if (dump === null) return;
    // A local file is looked at each minute; its geofeeds, which are on other servers, are fetched at its interval.
    const restMs = source.fetch === undefined && !asksForAll ? source.intervalSeconds * 1_000 : 0;
    const outcome = await this.#feedsOf(source).refresh(dump, source, { ...fetching, signal, onProgress, restMs });
    if (outcome === null) return;
    const fields = { source: source.name, feeds: outcome.feeds, failed: outcome.failed };
    if (outcome.firstError === null) log.info(fields, "geofeeds that a registry dump refers to were asked for");
    else
      log.warn(
        { ...fields, reason: outcome.firstError },
        "geofeeds that a registry dump refers to are unavailable; their last good versions remain in use",
      );
  }

  #noteFetch(name: string, { changed, file, bytes, seconds, notes }: Omit<FetchOutcome, "path">): void {
    const { metrics, log } = this.#deps;
    metrics?.fetches.inc({ source: name, outcome: changed ? "fetched" : "unchanged" });
    metrics?.fetchedBytes.inc({ source: name }, bytes);
    metrics?.fetchSeconds.set({ source: name }, seconds);
    const fields = { source: name, url: file.finalUrl, bytes, seconds: Math.round(seconds * 1_000) / 1_000, sha256: file.sha256 };
    log.info({ ...fields, ...(notes.length > 0 && { notes }) }, changed ? "source fetched" : "source unchanged");
  }

  /** Fetches all steps since the oldest version of the table that a run may read; nothing while there is no table. */
  async #fetchUpdates(
    source: RemoteSource,
    table: SourceConfig,
    signal: AbortSignal,
    onProgress: NonNullable<FetchContext["onProgress"]>,
  ): Promise<void> {
    const versions = await Promise.all([true, false].map((all) => this.ready(table, all)));
    const paths = new Set(versions.flatMap((ready) => [ready?.location, ready?.lastGood?.location].filter((path) => path != null)));
    const times = (await Promise.all([...paths].map((path) => this.#updates.timeOf(path)))).filter((time) => time !== null);
    if (times.length === 0) return;
    const { changed, newest, ...outcome } = await fetchSteps(source, Math.min(...times), { ...this.#deps.fetching, signal, onProgress });
    if (newest !== null) this.#noteFetch(source.name, { ...outcome, changed, file: newest.file });
  }

  async #look(source: SourceConfig): Promise<void> {
    const { location, section } = source;
    const found = await stat(location).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "ENOENT" ? new Error(`${location}: no such file`) : error;
    });
    const { mtimeMs, size } = found;
    // A pipe or a device may never end.
    if (!found.isFile() && !(section === "updates" && found.isDirectory())) throw new Error(`${location}: expected a file`);
    // Each file of updates is looked at in `ready`.
    if (section === "updates") return;
    const { file, refused } = this.state(source);
    if (file?.mtimeMs === mtimeMs && file.size === size && !refused.some(isOfAway)) return;
    // While a later change could have the same time, the time is not noted: the next look reads the content again.
    const isSettled = Math.abs(this.#deps.clock.now() - mtimeMs) > fileTimeUnitMs;
    const sha256 = await sha256Of(location);
    // Reads `refused` again, because a run may have ended meanwhile.
    const kept = this.state(source).refused.filter((one) => !isOfAway(one));
    this.#deps.states.change(source, { file: { mtimeMs: isSettled ? mtimeMs : 0, size, sha256 }, refused: kept });
  }
}

/** The server that requests queue for; empty for local files. */
function hostOf({ fetch, location }: SourceConfig): string {
  return fetch === undefined ? "" : (URL.parse(location.replaceAll(/[{}]/g, ""))?.host ?? "");
}

/** False: a local file that is absent, or that this process may not read. */
async function canBeRead({ fetch, location }: SourceConfig): Promise<boolean> {
  if (fetch !== undefined) return true;
  return await access(location, constants.R_OK).then(
    () => true,
    () => false,
  );
}

function isOfAway({ isAway }: RefusedVersion): boolean {
  return isAway === true;
}

function boundsOf({ bytesMax, secondsMax, shrinkMax, badRecordsMax, format }: SourceConfig): string {
  return [format, bytesMax, secondsMax, shrinkMax, badRecordsMax].join(" ");
}
