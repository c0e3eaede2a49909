/** The work of a leader beside its API: keeps the state of the sources, and follows their schedule. */

import { join } from "node:path";
import type { SourceSchedule } from "@netfacts/contracts";
import type { SnapshotStore } from "@netfacts/snapshot";
import type { Store } from "@netfacts/storage";
import type { FetchContext } from "../fetch/index.ts";
import type { IngestMetrics } from "../metrics.ts";
import { OverrideFile, overridesIn } from "../overrides/override-file.ts";
import type { ProgressListener } from "../pipeline/progress.ts";
import type { RunReport } from "../pipeline/run-report.ts";
import { RtrSources } from "../rtr/index.ts";
import type { RunManager } from "../runs/run-manager.ts";
import { readSources, type SourceConfig } from "../sources/index.ts";
import { StatementKeeper } from "../statements/keep-statements.ts";
import { statementsIn } from "../statements/statement-files.ts";
import { withStored } from "../uploads/stored-source.ts";
import { lockRuns } from "./lock-runs.ts";
import { type RunScope, wholeScope } from "./run-scope.ts";
import { scheduleOf } from "./schedule-record.ts";
import { Scheduler } from "./scheduler.ts";
import { SourceStates } from "./source-state.ts";
import { SourceStock, type SourceStockDeps } from "./source-stock.ts";

export interface LeadDeps extends Omit<SourceStockDeps, "states" | "fetching" | "metrics"> {
  /** Path of the sources.yaml; empty: there is none, and nothing is fetched. */
  readonly sources: string;
  /** Folder of downloads and of the schedule's state. */
  readonly stateFolder: string;
  readonly fetching: Omit<FetchContext, "downloads" | "signal" | "onProgress">;
  /** False: sources are fetched only when a run is requested. */
  readonly scheduled: boolean;
  readonly snapshots: Pick<SnapshotStore, "currentId" | "getManifest" | "takenBack">;
  readonly profiles: Pick<Store["profiles"], "list" | "state">;
  readonly statements: Store["statements"];
  readonly metrics: IngestMetrics;
  /** Time from a change of an RTR session to the run that publishes it. */
  readonly rtrDelayMs: number;
}

/** Opens the stock of the sources with the state that the folder has now. */
export async function openStock(
  deps: Omit<SourceStockDeps, "states" | "fetching"> & Pick<LeadDeps, "stateFolder" | "fetching">,
): Promise<SourceStock> {
  const { stateFolder, fetching } = deps;
  const states = await SourceStates.open(join(stateFolder, "schedule.json"));
  return new SourceStock({ ...deps, states, fetching: { ...fetching, downloads: join(stateFolder, "downloads") } });
}

/** The work of one term. */
export class Lead {
  readonly #deps: LeadDeps;
  /** Opened for each term: another process may have led meanwhile, and changed the state in the same folder. */
  readonly #stock: Promise<SourceStock>;
  readonly #stopping = new AbortController();
  readonly #rtr: RtrSources;
  readonly #overrides: OverrideFile;
  readonly #statements: StatementKeeper;
  #scheduler: Scheduler | null = null;
  /** Runs of this process that use the folder; together they hold its lock. */
  #folder: { users: number; readonly free: Promise<() => void> } | null = null;

  constructor(deps: LeadDeps) {
    this.#deps = deps;
    const { stateFolder, metrics, rtrDelayMs: delayMs, log } = deps;
    const onChange = () => this.#scheduler?.poke();
    this.#rtr = new RtrSources({ folder: join(stateFolder, "rtr"), metrics: metrics.rtr, delayMs, log, onChange });
    const onOverride = () => this.#scheduler?.pokeFollowed();
    this.#overrides = new OverrideFile({ stateFolder, profiles: deps.profiles, log, onChange: onOverride });
    this.#statements = new StatementKeeper({ ...deps, folder: this.statementFolder });
    this.#stock = openStock({ ...deps, rtr: this.#rtr });
    this.#stock.catch(() => undefined);
  }

  /** File of the operator's overrides; it may be absent. */
  get overrides(): string {
    return overridesIn(this.#deps.stateFolder);
  }

  /** Folder of the statements that sources make about ASes. */
  get statementFolder(): string {
    return statementsIn(this.#deps.stateFolder);
  }

  /** Fetches all sources, for a run of every section. */
  async prepare(signal: AbortSignal, onProgress: ProgressListener): Promise<RunScope> {
    const { sources, stored, snapshots } = this.#deps;
    const config = await withStored(await readSources(sources, { overrides: this.overrides }), stored, snapshots, true);
    return wholeScope(config, await this.#stock, signal, onProgress);
  }

  /** Checks at once whether a run is needed. */
  poke(): void {
    this.#scheduler?.poke();
  }

  async settle({ sources, files }: RunScope, report: RunReport | null): Promise<void> {
    const stock = await this.#stock;
    await stock.settle(sources, files, report).finally(() => this.#statements.keep());
  }

  /** The schedule of each source, by the name of the source. */
  async scheduleOf(sources: readonly SourceConfig[]): Promise<Map<string, SourceSchedule>> {
    const stock = await this.#stock;
    return new Map(await Promise.all(sources.map(async (source) => [source.name, await scheduleOf(source, stock)] as const)));
  }

  /** Does the work of a run while no other process runs in the same folder. All runs must pass the same signal. */
  async alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const { stateFolder, log } = this.#deps;
    this.#folder ??= {
      users: 0,
      free: lockRuns(stateFolder, signal, () =>
        log.info({ folder: stateFolder }, "another import is using the same folder; the run is waiting"),
      ),
    };
    const folder = this.#folder;
    folder.users++;
    try {
      await folder.free;
      return await work();
    } finally {
      folder.users--;
      if (folder.users === 0) {
        this.#folder = null;
        await folder.free.then(
          (free) => free(),
          () => undefined,
        );
      }
    }
  }

  /** Begins to follow the schedule. Call it when the runs of the previous leader are cleaned up. @param signal  of the term */
  async follow(runs: RunManager, signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => void this.#statements.stop(), { once: true });
    // Statements that an earlier process left in the folder.
    this.#statements.keep();
    const { sources, scheduled, log } = this.#deps;
    if (sources === "" || !scheduled) return;
    try {
      const stock = await this.#stock;
      if (signal.aborted || this.#stopping.signal.aborted) return;
      const ending = AbortSignal.any([signal, this.#stopping.signal]);
      ending.addEventListener("abort", () => void this.#rtr.stop(), { once: true });
      await this.#overrides.follow(ending);
      this.#scheduler = new Scheduler({ ...this.#deps, overrides: this.overrides, stock, runs, rtr: this.#rtr, signal: ending });
      this.#scheduler.start();
    } catch (err) {
      log.error({ err, folder: this.#deps.stateFolder }, "the state folder cannot be used; sources are not fetched");
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#statements.stop();
    await this.#overrides.ended();
    await this.#scheduler?.ended();
    await this.#rtr.stop();
  }
}
