/** The leader's clock: asks for each source when it is due, and starts a run for what came of it. */

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
import { differs, isOutdated, planOf, stillTakenBack } from "./plan.ts";
import { besideOf, markTakenBack, type RunScope, readyFiles } from "./run-scope.ts";
import type { SourceStock } from "./source-stock.ts";

export interface SchedulerDeps {
  /** Path of the sources.yaml, which is read anew at every look. */
  readonly sources: string;
  /** File of the operator's overrides; null: there are none. */
  readonly overrides?: string | null;
  readonly stock: SourceStock;
  /** Sessions of the list's RTR sources; whoever has them calls `poke` when one has something new. */
  readonly rtr?: Pick<RtrSources, "follow" | "giveUpInherited">;
  /** What is stored of uploads; absent: nothing is. */
  readonly stored?: StoredStock | undefined;
  readonly snapshots: Pick<SnapshotStore, "currentId" | "getManifest" | "takenBack">;
  readonly runs: Pick<RunManager, "run" | "runBeside" | "idle" | "wholeRuns">;
  /** Absent: nobody asks for them. */
  readonly metrics?: Pick<IngestMetrics, "sectionRefused" | "listFaults">;
  readonly clock: { now(): number };
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** Of the term: only a leader asks and runs. */
  readonly signal: AbortSignal;
  /** How long a run waits for sources that are slow; they make a run of their own then. Default 20 s. */
  readonly waitMs?: number;
}

/** The clock is looked at at least so often; also the list, which its operator may have changed. */
const lookedAtEveryMs = 30_000;
/** What is due so soon is asked for along with the rest, so that it makes one run. */
const togetherMs = 15_000;
const waitMsDefault = 20_000;
/** After a run that failed for no source's fault (a full disk, a store that is away), doubled by each further one; no longer than a store that is back may go unnoticed. */
const runRetryMs = 60_000;
const runRetryMsMax = 600_000;

type Run = (scope: RunScope) => Promise<RunOutcome>;

const bySchedule: Starter = { actor: "schedule", keyId: null, address: null };

/** What a look at the sources and the snapshot comes to. */
interface Found {
  readonly config: SourcesConfig;
  /** SHA-256 by source; null: it has no version that a run could use. */
  readonly versions: ReadonlyMap<string, string | null>;
  /** Names of sources whose newest version is one that no run could use. */
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
  /** Sections that stay as they are, with what they would have been built from and compared with: of the same they are not built again. */
  readonly #held = new Map<BuiltSection, string>();
  #noRunBefore = 0;
  /** What is stored has no other version that a run could use: the same is tried again, and other sections do not wait for it. */
  #storedFailures = 0;
  #noStoredBefore = 0;
  /** When the failures were counted. */
  #wholeRuns = 0;
  /** What was told last of the list, and of each section the source that it waits for: it is told again when it is another. */
  #told = { list: "", unreadable: "", waiting: new Map<BuiltSection, string | undefined>() };

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#asking = new Asking(deps.stock, deps.signal, () => this.poke());
    deps.signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
  }

  start(): void {
    this.#turn = this.#takeTurn();
  }

  /** Resolves when nothing of it is under way; the signal has ended it. */
  async ended(): Promise<void> {
    await this.#turn;
    await this.#followedTurn;
    await this.#asking.ended();
  }

  /** Looks now; once more when a look is under way. */
  poke(): void {
    this.#isPoked = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#turn = this.#takeTurn();
  }

  /** Looks now at what is followed, whatever else is under way. */
  pokeFollowed(): void {
    void this.#lookAtFollowed();
  }

  /** One look: asks for what is due, and runs what has changed. */
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

  /** One after the other. What is followed is a file that was just written: no server and no run delays it. */
  #lookAtFollowed(): Promise<void> {
    this.#followedTurn = this.#followedTurn
      .then(() => this.#runFollowed())
      .catch((err: unknown) => {
        if (!this.#deps.signal.aborted) this.#deps.log.error({ err }, "the overrides could not be processed; retrying shortly");
      });
    return this.#followedTurn;
  }

  async #runFollowed(): Promise<void> {
    const { runs, stock, signal } = this.#deps;
    if (signal.aborted) return;
    const listed = await this.#readList();
    const followed = listed?.sources.filter(({ isFollowed }) => isFollowed === true) ?? [];
    // Alone they are no snapshot: the first import has them.
    if (listed === null || followed.length === 0 || (await this.#current()) === null) return;
    await stock.refresh(followed, signal);
    const sections = new Set(followed.map(sectionOf));
    const config = { ...listed, sources: listed.sources.filter((source) => sections.has(sectionOf(source))) };
    await this.#runAll(config, (scope) => runs.runBeside(bySchedule, scope));
  }

  async #runAll(config: SourcesConfig, run: Run): Promise<void> {
    const { signal } = this.#deps;
    // A run that a source's fault ended tells which: without its section the others can go on.
    for (let tries = 0; tries <= config.sources.length && !signal.aborted; tries++) if (!(await this.#runChanged(config, run))) return;
  }

  async #takeTurn(): Promise<void> {
    const { signal, log } = this.#deps;
    this.#timer = undefined;
    if (signal.aborted) return;
    this.#isPoked = false;
    try {
      await this.look();
    } catch (err) {
      if (signal.aborted) return;
      log.error({ err }, "the schedule could not be processed; retrying shortly");
    }
    const waitMs = await this.#untilNext();
    if (signal.aborted) return;
    const next = () => {
      this.#turn = this.#takeTurn();
    };
    this.#timer = setTimeout(next, this.#isPoked ? 0 : waitMs);
  }

  /** Data that a leader before published are given up in time even when no cache can be reached any more. */
  async #followSessions(sources: readonly SourceConfig[]): Promise<void> {
    const { rtr } = this.#deps;
    if (rtr === undefined) return;
    const own = sources.filter(({ format }) => format === "rtr");
    rtr.follow(own);
    if (own.length === 0) return;
    const published = (await this.#current())?.sections.vrps?.sources ?? [];
    for (const { name } of own) {
      const entry = published.find((each) => each.name === name && each.format === "rtr" && each.sha256 !== "");
      if (entry?.as_of != null) rtr.giveUpInherited(name, Date.parse(entry.as_of));
    }
  }

  async #untilNext(): Promise<number> {
    const config = await this.#readList();
    const now = this.#deps.clock.now();
    // Who is being asked tells when it is here.
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

  /** Times that were missed are made up for once. */
  #due(sources: readonly SourceConfig[]): SourceConfig[] {
    const { stock, clock } = this.#deps;
    const now = clock.now();
    const timed = sources.filter((source) => source.format !== "rtr" && source.format !== storedFormat && !this.#asking.isUnderWay(source));
    const dueAt = (source: SourceConfig): number => {
      const { nextAt, checkedAt } = stock.state(source);
      // The clock was set back: none of these times holds.
      if ((checkedAt ?? 0) > now) return 0;
      // An interval that was made shorter holds at once.
      return nextAt === null ? 0 : Math.min(nextAt, (checkedAt ?? 0) + source.intervalSeconds * 1_050 + 300_000);
    };
    if (!timed.some((source) => dueAt(source) <= now)) return [];
    return timed.filter((source) => dueAt(source) <= now + togetherMs);
  }

  /** @returns whether it is worth looking again at once. */
  async #runChanged(config: SourcesConfig, run: Run): Promise<boolean> {
    const { stock, clock, log, runs } = this.#deps;
    if (runs.wholeRuns !== this.#wholeRuns) this.#forgetFailures();
    if (this.#isBefore(this.#noRunBefore)) return false;
    const unreadable = new Map<string, Error>();
    const newest = await readyFiles(config.sources, stock, false, ({ name }, error) => unreadable.set(name, error));
    this.#tellUnreadable(unreadable);
    // Without what cannot be read now, even an optional source would leave its section.
    const kept = new Set(config.sources.filter(({ name }) => unreadable.has(name)).map(sectionOf));
    const listed = config.sources.filter((source) => !kept.has(sectionOf(source)));
    const current = await this.#current();
    const isLeftAlone = ({ format }: SourceConfig) => format === storedFormat && this.#isBefore(this.#noStoredBefore);
    const versions = new Map(
      listed.map((source) => [source.name, isLeftAlone(source) ? null : versionOf(source, readyFile(newest, source.name), current)]),
    );
    let files = newest;
    let { sections: planned, waiting } = planOf(listed, versions, current, earlierOf(files));
    const more = await this.#earlierFor(waiting, listed, versions, current);
    for (const [name, { sha256 }] of Object.entries(more)) versions.set(name, sha256);
    if (Object.keys(more).length > 0) {
      files = { ...newest, ...more };
      ({ sections: planned, waiting } = planOf(listed, versions, current, earlierOf(files)));
    }
    // A session tells by itself what its caches do.
    const isSession = (name: string) => config.sources.some((source) => source.name === name && source.format === "rtr");
    const awaited = [...waiting].filter(([, name]) => !isSession(name));
    if (awaited.some(([section, name]) => this.#told.waiting.get(section) !== name))
      log.warn({ waiting: Object.fromEntries(awaited) }, "sections are kept, because a source that they need has no usable version");
    for (const section of new Set(config.sources.map(sectionOf))) this.#told.waiting.set(section, waiting.get(section));
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
        // Another run published them meanwhile, perhaps of other versions.
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

  #tellUnreadable(faults: ReadonlyMap<string, Error>): void {
    const reasons = Object.fromEntries([...faults].map(([source, { message }]) => [source, message]));
    const text = JSON.stringify(reasons);
    if (faults.size > 0 && this.#told.unreadable !== text)
      this.#deps.log.warn({ reasons }, "sections are kept, because what was fetched of their sources cannot be read");
    this.#told.unreadable = text;
  }

  /**
   * Versions before those that no run could use, for sections that wait for them while the operator changed overrides or uploads. A deletion must not
   * wait until a publisher repairs a file.
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
   * Sections of a plan that stay as they are: the same versions were not taken in this term, as the section had shrunk; or an
   * operator took them back. The first wait for a newer version, the others for a newer version of what was taken
   * back; or for a run of everything.
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
    // Planned for the sake of the routes alone.
    if (held.has("routes") && !isBehind("vrps")) held.add("vrps");
    return held;
  }

  /** Somebody else's run of everything succeeded: what made those of the schedule fail is over. */
  #forgetFailures(): void {
    this.#wholeRuns = this.#deps.runs.wholeRuns;
    [this.#failedRuns, this.#noRunBefore] = [0, 0];
    [this.#storedFailures, this.#noStoredBefore] = [0, 0];
  }

  /** Of a time after a failure. One that is farther away is of a clock that was set back since. */
  #isBefore(at: number): boolean {
    const wait = at - this.#deps.clock.now();
    return wait > 0 && wait <= runRetryMsMax;
  }

  async #current(): Promise<Manifest | null> {
    const { snapshots } = this.#deps;
    const id = await snapshots.currentId();
    // A damaged one counts as none: the next run replaces it.
    return id === null ? null : snapshots.getManifest(id).catch(() => null);
  }
}

/** Names of sources whose newest version is one that no run could use. */
function earlierOf(files: ReadyFiles): ReadonlySet<string> {
  return new Set(Object.keys(files).filter((name) => files[name]?.isEarlier));
}

/** ms until a run is tried again after so many failures before this one. */
function retryMs(failures: number): number {
  return Math.min(runRetryMsMax, runRetryMs * 2 ** Math.min(failures, 20));
}

/** Null: none that a run could use. Data that were given up are a version as long as what was published of them stands. */
function versionOf(source: SourceConfig, file: ReadyFile | undefined, current: Manifest | null): string | null {
  const { name, format } = source;
  const published = current?.sections[sectionOf(source)]?.sources.find((entry) => entry.name === name && entry.sha256 !== "");
  // Not looked at so far, in this term.
  if (file === undefined && format === storedFormat) return published?.sha256 ?? null;
  if (file?.givenUp === undefined) return file?.sha256 ?? null;
  return published === undefined ? null : "discarded";
}

/** What a section would be built from, and what it would be compared with. */
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
