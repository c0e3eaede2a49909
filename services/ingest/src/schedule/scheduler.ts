/** The leader's clock: checks each source when it is due, and starts a run if something changed. */

import type { Manifest, SnapshotStore, TakenBack } from "@netfacts/snapshot";
import { type ReadyFile, type ReadyFiles, readyFile } from "../fetch/ready-files.ts";
import type { IngestMetrics } from "../metrics.ts";
import type { RtrSources } from "../rtr/index.ts";
import { RunInProgressError, type RunManager, type Starter } from "../runs/run-manager.ts";
import type { RunOutcome } from "../runs/run-threads.ts";
import {
  type BuiltSection,
  isOperators,
  readSources,
  type SourceConfig,
  type SourcesConfig,
  SourcesFileError,
  sectionOf,
  storedFormat,
} from "../sources/index.ts";
import { type StoredStock, storedSourceName, withStored } from "../uploads/stored-source.ts";
import { Asking } from "./asking.ts";
import { differs, isOutdated, type Plan, planOf, stillTakenBack } from "./plan.ts";
import { besideOf, markTakenBack, type RunScope, readyFiles } from "./run-scope.ts";
import type { SourceState } from "./source-state.ts";
import type { SourceStock } from "./source-stock.ts";

export interface SchedulerDeps {
  /** Path of the sources.yaml; it is read again at each look. */
  readonly sources: string;
  /** File of the operator's overrides; null: there are none. */
  readonly overrides?: string | null;
  readonly stock: SourceStock;
  /** Sessions of the list's RTR sources; their owner calls `poke` when one has new data. */
  readonly rtr?: Pick<RtrSources, "follow" | "giveUpInherited">;
  /** State of the stored uploads; absent: there are none. */
  readonly stored?: StoredStock | undefined;
  readonly snapshots: Pick<SnapshotStore, "currentId" | "getManifest" | "takenBack">;
  readonly runs: Pick<RunManager, "run" | "runBeside" | "idle" | "wholeRuns">;
  /** Absent: nothing is measured. */
  readonly metrics?: Pick<IngestMetrics, "sectionRefused" | "listFaults">;
  readonly clock: { now(): number };
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** Aborts at the end of the term: only a leader fetches and runs. */
  readonly signal: AbortSignal;
  /** Longest time that a run waits for slow sources, which then get a run of their own. Default: 20 s. */
  readonly waitMs?: number;
}

/** Longest time between two looks at the clock and at the list, which its operator may have changed. */
const lookedAtEveryMs = 30_000;
/** Sources that are due within this time are checked together, so that one run takes all of them. */
const togetherMs = 15_000;
const waitMsDefault = 20_000;
/**
 * Delay after a run that failed without a fault of a source, such as a full disk or an unavailable store. Each further failure doubles it. The limit
 * bounds the time that an available store may go unnoticed.
 */
const runRetryMs = 60_000;
const runRetryMsMax = 600_000;

type Run = (scope: RunScope) => Promise<RunOutcome>;

const bySchedule: Starter = { actor: "schedule", keyId: null, address: null };

/** The state of the sources and of the snapshot at one look. */
interface Found {
  readonly config: SourcesConfig;
  /** SHA-256 by source; null: it has no usable version. */
  readonly versions: ReadonlyMap<string, string | null>;
  /** Names of sources whose newest version no run could use. */
  readonly earlier: ReadonlySet<string>;
  readonly current: Manifest | null;
  readonly taken: TakenBack;
}

export class Scheduler {
  readonly #deps: SchedulerDeps;
  readonly #asking: Asking;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isPoked = false;
  #followedTurn: Promise<void> = Promise.resolve();
  #failedRuns = 0;
  /** Sections that are not built, with the versions and the state that they would be built from: they are not built again from the same. */
  readonly #held = new Map<BuiltSection, string>();
  #noRunBefore = 0;
  /**
   * Failures in a row of reading the stored observations, which have no earlier version. The same version is tried again, and other sections do not
   * wait for it.
   */
  #storedFailures = 0;
  #noStoredBefore = 0;
  /** `wholeRuns` at the time when the failures were counted. */
  #wholeRuns = 0;
  /** The last messages that were logged, such as of the source that each section waits for. A message is logged again when it changes. */
  #told = { list: "", unreadable: "", look: "", followed: "", waiting: new Map<BuiltSection, string | undefined>() };

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#asking = new Asking(deps.stock, deps.signal, () => this.poke());
    deps.signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
  }

  start(): void {
    this.#turn = this.#takeTurn();
  }

  /** Resolves when no work is in progress; abort the signal first. */
  async ended(): Promise<void> {
    await this.#turn;
    await this.#followedTurn;
    await this.#asking.ended();
  }

  /** Looks now. If a look is in progress, another one follows it. */
  poke(): void {
    this.#isPoked = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#turn = this.#takeTurn();
  }

  /** Looks now at the followed sources, whatever else is in progress. */
  pokeFollowed(): void {
    void this.#lookAtFollowed();
  }

  /** One look: checks sources that are due, and runs what has changed. */
  async look(): Promise<void> {
    const { runs, signal, waitMs = waitMsDefault } = this.#deps;
    await this.#lookAtFollowed();
    await runs.idle();
    if (signal.aborted) return;
    const listed = await this.#readList();
    if (listed === null) return;
    await this.#deps.stock.forgetUnlisted(listed.sources);
    const config = await withStored(listed, this.#deps.stored, this.#deps.snapshots, false);
    await this.#followSessions(config.sources);
    await this.#asking.ask(this.#due(config.sources), waitMs);
    await this.#runAll(config, (scope) => runs.run(bySchedule, scope));
  }

  /** One at a time. Followed sources are files that were just written: no server and no run delays them. */
  #lookAtFollowed(): Promise<void> {
    this.#followedTurn = this.#followedTurn
      .then(() => this.#runFollowed())
      .then(
        () => this.#tellFault("followed", null),
        (error: unknown) => this.#tellFault("followed", error),
      );
    return this.#followedTurn;
  }

  async #runFollowed(): Promise<void> {
    const { runs, stock, signal } = this.#deps;
    if (signal.aborted) return;
    const listed = await this.#readList();
    const followed = listed?.sources.filter(({ isFollowed }) => isFollowed === true) ?? [];
    // Followed sources alone make no snapshot: the first import includes them.
    if (listed === null || followed.length === 0 || (await this.#current()) === null) return;
    await stock.refresh(followed, signal);
    const sections = new Set(followed.map(sectionOf));
    const config = { ...listed, sources: listed.sources.filter((source) => sections.has(sectionOf(source))) };
    await this.#runAll(config, (scope) => runs.runBeside(bySchedule, scope));
  }

  async #runAll(config: SourcesConfig, run: Run): Promise<void> {
    const { signal } = this.#deps;
    // A run that a source's fault ended names the source: the other sections can go on without its section.
    for (let tries = 0; tries <= config.sources.length && !signal.aborted; tries++) if (!(await this.#runChanged(config, run))) return;
  }

  async #takeTurn(): Promise<void> {
    const { signal } = this.#deps;
    this.#timer = undefined;
    if (signal.aborted) return;
    this.#isPoked = false;
    try {
      await this.look();
      this.#tellFault("look", null);
    } catch (error) {
      this.#tellFault("look", error);
    }
    const waitMs = await this.#untilNext();
    if (signal.aborted) return;
    const next = () => {
      this.#turn = this.#takeTurn();
    };
    this.#timer = setTimeout(next, this.#isPoked ? 0 : waitMs);
  }

  /** @param err  null: there is none any more. While a store is away, each look fails for the same reason, which may be every second. */
  #tellFault(at: "look" | "followed", err: unknown): void {
    if (this.#deps.signal.aborted) return;
    const text = err === null ? "" : `${err}`;
    const what = at === "look" ? "schedule" : "overrides";
    if (err !== null && this.#told[at] !== text)
      this.#deps.log.error({ err }, `the ${what} could not be processed; retrying until it succeeds`);
    this.#told[at] = text;
  }

  /** Also gives up, in time, data that an earlier leader published, even if no cache can be reached any more. */
  async #followSessions(sources: readonly SourceConfig[]): Promise<void> {
    const { rtr } = this.#deps;
    if (rtr === undefined) return;
    const own = sources.filter(({ format }) => format === "rtr");
    rtr.follow(own);
    if (own.length === 0) return;
    const published = (await this.#current())?.sections.vrps?.sources ?? [];
    for (const { name } of own) {
      const entry = published.find((each) => each.name === name && each.format === "rtr");
      // The time before is that of data that an earlier leader gave up, where other sources fill the section.
      const asOf = entry?.as_of ?? entry?.as_of_before;
      if (asOf != null) rtr.giveUpInherited(name, Date.parse(asOf));
    }
  }

  async #untilNext(): Promise<number> {
    const config = await this.#readList();
    const now = this.#deps.clock.now();
    // A source that is being checked calls `poke` when it is done.
    const idle = (config?.sources ?? []).filter((source) => !this.#asking.isUnderWay(source));
    const next = idle.map((source) => this.#deps.stock.state(source).nextAt ?? now + lookedAtEveryMs);
    return Math.max(1_000, Math.min(lookedAtEveryMs, ...next.map((at) => at - now)));
  }

  async #readList(): Promise<SourcesConfig | null> {
    try {
      const config = await readSources(this.#deps.sources, { files: "later", overrides: this.#deps.overrides ?? null });
      this.#told.list = "";
      this.#deps.metrics?.listFaults.set({}, 0);
      await this.#deps.stock.measure(config.sources);
      return config;
    } catch (error) {
      if (!(error instanceof SourcesFileError)) throw error;
      const faults = error.message.split("\n");
      this.#deps.metrics?.listFaults.set({}, faults.length);
      if (this.#told.list !== error.message) this.#deps.log.error({ faults }, "sources.yaml has errors; no source is checked");
      this.#told.list = error.message;
      return null;
    }
  }

  /** The sources to check now. A source whose time was missed several times is checked once. */
  #due(sources: readonly SourceConfig[]): SourceConfig[] {
    const { stock, clock } = this.#deps;
    const now = clock.now();
    const isTimed = ({ format }: SourceConfig) => format !== "rtr" && format !== storedFormat;
    // If the clock was set back, none of the times holds.
    const isPaused = ({ checkedAt, pausedUntil }: SourceState) => (pausedUntil ?? 0) > now && (checkedAt ?? 0) <= now;
    const timed = sources.filter((source) => isTimed(source) && !this.#asking.isUnderWay(source) && !isPaused(stock.state(source)));
    const dueAt = (source: SourceConfig): number => {
      const { nextAt, checkedAt } = stock.state(source);
      if ((checkedAt ?? 0) > now) return 0;
      // A shorter interval takes effect at once.
      return nextAt === null ? 0 : Math.min(nextAt, (checkedAt ?? 0) + source.intervalSeconds * 1_050 + 300_000);
    };
    if (!timed.some((source) => dueAt(source) <= now)) return [];
    return timed.filter((source) => dueAt(source) <= now + togetherMs);
  }

  /** @returns whether to look again at once */
  async #runChanged(config: SourcesConfig, run: Run): Promise<boolean> {
    const { stock, clock, runs } = this.#deps;
    if (runs.wholeRuns !== this.#wholeRuns) this.#forgetFailures();
    if (this.#isBefore(this.#noRunBefore)) return false;
    const unreadable = new Map<string, Error>();
    const newest = await readyFiles(config.sources, stock, false, ({ name }, error) => unreadable.set(name, error));
    this.#tellUnreadable(unreadable);
    // Keeps these sections as they are: without a source that cannot be read now, even an optional one, it would vanish from its section.
    const kept = new Set(config.sources.filter(({ name }) => unreadable.has(name)).map(sectionOf));
    const listed = config.sources.filter((source) => !kept.has(sectionOf(source)));
    const current = await this.#current();
    const isLeftAlone = ({ format }: SourceConfig) => format === storedFormat && this.#isBefore(this.#noStoredBefore);
    const versions = new Map(
      listed.map((source) => [source.name, isLeftAlone(source) ? null : versionOf(source, readyFile(newest, source.name), current)]),
    );
    let files = newest;
    const givenUp = new Set(Object.keys(newest).filter((name) => newest[name]?.givenUp !== undefined));
    let { sections: planned, waiting } = planOf(listed, versions, current, earlierOf(files), givenUp);
    const behind = waiting;
    const more = await this.#earlierFor(waiting, listed, versions, current);
    for (const [name, { sha256 }] of Object.entries(more)) versions.set(name, sha256);
    if (Object.keys(more).length > 0) {
      files = { ...newest, ...more };
      ({ sections: planned, waiting } = planOf(listed, versions, current, earlierOf(files), givenUp));
    }
    this.#tellWaiting(config.sources, waiting, behind);
    const taken = planned.length === 0 ? [] : await this.#deps.snapshots.takenBack();
    const held = this.#heldBack(planned, { config, versions, earlier: earlierOf(files), current, taken });
    const sections = planned.filter((section) => !held.has(section));
    if (sections.length === 0) return false;
    const sources = config.sources.filter((source) => sections.includes(sectionOf(source)));
    try {
      const outcome = await run({ sources, files: markTakenBack(files, sources, taken), only: sections });
      if (outcome.ok) {
        this.#failedRuns = 0;
        if (sources.some(({ format }) => format === storedFormat)) this.#storedFailures = 0;
        for (const section of sections) {
          const isRefused = outcome.report.sections.some(({ name, refused }) => name === section && refused !== null);
          if (isRefused) this.#held.set(section, attemptOf(section, config, versions, current));
        }
        // Another run published them meanwhile, perhaps from other versions.
        return outcome.report.sections.some(({ name, kept, refused }) => kept && refused === null && planned.some((one) => one === name));
      }
      const failed = outcome.report?.sources.filter(({ state }) => state === "failed") ?? [];
      if (failed.some(({ name }) => name === storedSourceName)) this.#noStoredBefore = clock.now() + retryMs(this.#storedFailures++);
      if (failed.length > 0) return true;
      this.#noRunBefore = clock.now() + retryMs(this.#failedRuns++);
      return false;
    } catch (error) {
      if (error instanceof RunInProgressError) return false;
      throw error;
    }
  }

  /**
   * Logs the source that each section waits for: once, until the source has a usable version again.
   *
   * @param behind  the sections that wait, and those that are built from earlier versions meanwhile.
   */
  #tellWaiting(sources: readonly SourceConfig[], waiting: Plan["waiting"], behind: Plan["waiting"]): void {
    const told = this.#told.waiting;
    // A session reports the state of its caches itself, and a source that is new in the list may have a usable version.
    const isAwaited = (source: SourceConfig) =>
      source.format === storedFormat || (source.format !== "rtr" && this.#deps.stock.state(source).checkedAt !== null);
    const names = new Set(sources.filter(isAwaited).map(({ name }) => name));
    const awaited = new Map([...waiting].filter(([, name]) => names.has(name)));
    if ([...awaited].some(([section, name]) => told.get(section) !== name))
      this.#deps.log.warn(
        { waiting: Object.fromEntries(awaited) },
        "sections are kept, because a source that they need has no usable version",
      );
    for (const section of new Set(sources.map(sectionOf)))
      if (awaited.has(section) || behind.get(section) !== told.get(section)) told.set(section, awaited.get(section));
  }

  #tellUnreadable(faults: ReadonlyMap<string, Error>): void {
    const reasons = Object.fromEntries([...faults].map(([source, { message }]) => [source, message]));
    const text = JSON.stringify(reasons);
    if (faults.size > 0 && this.#told.unreadable !== text)
      this.#deps.log.warn({ reasons }, "sections are kept, because what was fetched of their sources cannot be read");
    this.#told.unreadable = text;
  }

  /**
   * Versions before those that no run could use, for sections that wait although the operator changed overrides or uploads: a deletion must not wait
   * until a publisher repairs a file.
   */
  async #earlierFor(
    waiting: ReadonlyMap<BuiltSection, string>,
    sources: readonly SourceConfig[],
    versions: ReadonlyMap<string, string | null>,
    current: Manifest | null,
  ): Promise<ReadyFiles> {
    const files: Record<string, ReadyFile> = {};
    for (const section of waiting.keys()) {
      const own = sources.filter((source) => sectionOf(source) === section);
      const [operators, others] = [own.filter(isOperators), own.filter((source) => !isOperators(source))];
      const published = current?.sections[section]?.sources.filter(({ name }) => !others.some((source) => source.name === name)) ?? [];
      if (!differs(operators, versions, published)) continue;
      for (const source of others.filter(({ name, required }) => required && versions.get(name) == null)) {
        const file = await this.#deps.stock.earlier(source, await besideOf(source, sources, this.#deps.stock));
        if (file !== null) files[source.name] = file;
      }
    }
    return files;
  }

  /**
   * Sections of a plan that stay as they are, for one of two reasons. The same versions were refused in this term because the section had shrunk: it
   * waits for a newer version. Or an operator took them back: the section waits for a newer version of what was taken back. A run of everything ends
   * both.
   */
  #heldBack(planned: readonly BuiltSection[], { config, versions, earlier, current, taken }: Found): ReadonlySet<BuiltSection> {
    const ownOf = (section: BuiltSection) => config.sources.filter((source) => sectionOf(source) === section);
    const published = (section: BuiltSection) => current?.sections[section]?.sources ?? [];
    const isBehind = (section: BuiltSection) => isOutdated(ownOf(section), versions, published(section), earlier);
    for (const section of planned) {
      const attempt = attemptOf(section, config, versions, current);
      if (current === null || this.#held.get(section) === attempt || !isBehind(section)) continue;
      this.#held.delete(section);
      const ofSection = taken.filter((version) => version.section === section);
      const sources = stillTakenBack(ownOf(section), versions, ofSection, earlier);
      if (sources.length === 0) continue;
      this.#held.set(section, attempt);
      this.#deps.metrics?.sectionRefused.set({ section }, 0);
      this.#deps.log.warn(
        { section, snapshot: current.id, sources },
        "a section stays rolled back until one of the sources that were taken back has a newer version or a run is started explicitly",
      );
    }
    const held = new Set(planned.filter((section) => this.#held.get(section) === attemptOf(section, config, versions, current)));
    // It was planned only because of the routes.
    if (held.has("routes") && !isBehind("vrps")) held.add("vrps");
    return held;
  }

  /** A run of everything that somebody else started has succeeded, so that earlier failures no longer count. */
  #forgetFailures(): void {
    this.#wholeRuns = this.#deps.runs.wholeRuns;
    [this.#failedRuns, this.#noRunBefore] = [0, 0];
    [this.#storedFailures, this.#noStoredBefore] = [0, 0];
  }

  /** Whether a retry must still wait. A time that is farther away than the longest delay is from before the clock was set back. */
  #isBefore(at: number): boolean {
    const wait = at - this.#deps.clock.now();
    return wait > 0 && wait <= runRetryMsMax;
  }

  async #current(): Promise<Manifest | null> {
    const { snapshots } = this.#deps;
    const id = await snapshots.currentId();
    // A damaged manifest counts as none: the next run replaces it.
    return id === null ? null : snapshots.getManifest(id).catch(() => null);
  }
}

/** Names of sources whose newest version no run could use. */
function earlierOf(files: ReadyFiles): ReadonlySet<string> {
  return new Set(Object.keys(files).filter((name) => files[name]?.isEarlier));
}

/** @returns ms until the next try of a run, after so many failures before this one */
function retryMs(failures: number): number {
  return Math.min(runRetryMsMax, runRetryMs * 2 ** Math.min(failures, 20));
}

/**
 * The version of a source as the plan compares it; null: it has no usable one. Given-up data count as a version as long as data of the source are
 * published.
 */
function versionOf(source: SourceConfig, file: ReadyFile | undefined, current: Manifest | null): string | null {
  const { name, format } = source;
  const published = current?.sections[sectionOf(source)]?.sources.find((entry) => entry.name === name && entry.sha256 !== "");
  // It was not looked at yet in this term.
  if (file === undefined && format === storedFormat) return published?.sha256 ?? null;
  if (file?.givenUp === undefined) return file?.sha256 ?? null;
  return published === undefined ? null : "discarded";
}

/** All that a section would be built from and compared with, as text. */
function attemptOf(
  section: BuiltSection,
  config: SourcesConfig,
  versions: ReadonlyMap<string, string | null>,
  current: Manifest | null,
): string {
  const own = config.sources
    .filter((source) => sectionOf(source) === section)
    .map(({ name, format }) => [name, format, versions.get(name)]);
  return JSON.stringify([own, config.sectionShrinkMax[section], current?.sections[section]?.object]);
}
