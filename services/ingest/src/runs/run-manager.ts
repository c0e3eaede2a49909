/**
 * Runs of the leader: one at a time, and beside it one of overrides, or a rollback. The store has each from its start to its end, whatever happens to
 * its process.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { SectionName, SnapshotStore } from "@netfacts/snapshot";
import type { RunRecord, Store } from "@netfacts/storage";
import type { Term } from "../leadership/leadership.ts";
import { type IngestMetrics, observeRun } from "../metrics.ts";
import type { ProgressEvent, ProgressListener } from "../pipeline/progress.ts";
import type { RunReport } from "../pipeline/run-report.ts";
import { type Rollback, rollBack } from "../publish/roll-back.ts";
import { type RunScope, SourcesAwayError } from "../schedule/run-scope.ts";
import { endAbandonedRuns } from "./abandoned-runs.ts";
import { PublishOrder, type PublishPlace } from "./publish-order.ts";
import { type KeptReport, newRunId } from "./run-record.ts";
import { type RunOutcome, stopMessage, type ThreadRunOptions } from "./run-threads.ts";

export interface Activation {
  /** Puts the published snapshot into service when the pods have had time to load it, unless all of them refused it. */
  activate(id: string): Promise<{ readonly activated: boolean }>;
  /** The same for a snapshot that an earlier leader published, and ended before it was activated. */
  resume(): Promise<unknown>;
}

export interface RunManagerDeps {
  readonly store: Pick<Store, "runs" | "audit">;
  readonly snapshots: Pick<SnapshotStore, "currentId" | "getManifest" | "getObject" | "publish" | "takenBack">;
  /** Restores the snapshot in service if the store lost everything, so that no run takes an empty store for a first import. @throws SnapshotError */
  restore(): Promise<void>;
  /** Path of the sources.yaml; empty: there is none. */
  readonly sources: string;
  /** Fetches all sources for a run of everything. @throws SourcesFileError, SourcesAwayError */
  prepare(signal: AbortSignal, onProgress: ProgressListener): Promise<RunScope>;
  execute(
    options: Pick<ThreadRunOptions, "files" | "only" | "acceptShrink" | "isBeside" | "onProgress" | "confirm" | "signal">,
  ): Promise<RunOutcome>;
  /** Notes which versions are good, from the report of a run that read sources. */
  settle(scope: RunScope, report: RunReport | null): Promise<void>;
  readonly metrics: IngestMetrics;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  readonly clock: { now(): number };
  /** Time until the end of a run is saved again that the store did not take; default: 1 s. */
  readonly saveAgainMs?: number;
}

/** The requester of a run, for its record and for the audit. */
export interface Starter {
  /** `key:7Q9M3W8K`, `start`, `schedule`. */
  readonly actor: string;
  readonly keyId: string | null;
  readonly address: string | null;
}

export class RunInProgressError extends Error {
  override readonly name = "RunInProgressError";
  readonly runId: string | null;

  constructor(runId: string | null) {
    super(runId === null ? "a run is starting, or the leader is taking over" : `run ${runId} is in progress`);
    this.runId = runId;
  }
}

/** A run from its beginning to its end, or the clean-up before the first one. */
interface Occupation {
  /** Id of the run, once it has one. */
  id: string | null;
  progress: ProgressEvent | null;
  readonly ended: Promise<void>;
  /** Call it once, at the end. */
  free(): void;
}

type RunForm = Pick<ThreadRunOptions, "acceptShrink" | "isBeside">;

/** The task of a run, and its entry in the audit. */
interface Task {
  readonly place: "current" | "beside";
  readonly action: "run.start" | "snapshot.rollback";
  /** Default: the run. */
  readonly target?: string;
  readonly details: object | null;
  /** Fields for the log. */
  readonly told: object;
  readonly kept?: Pick<KeptReport, "replaces">;
  work(run: RunRecord, onProgress: ProgressListener): Promise<RunOutcome>;
}

const progressLineMs = 5_000;
const saveAgainMsDefault = 1_000;
const firstImport: Starter = { actor: "start", keyId: null, address: null };

/** The runs of one term. */
export class RunManager {
  readonly #deps: RunManagerDeps;
  readonly #term: Term;
  readonly #activation: Activation;
  /** The work that prevents a run from being started, and the run beside it. */
  readonly #occupied: { current: Occupation | null; beside: Occupation | null } = { current: null, beside: null };
  readonly #order = new PublishOrder();
  readonly #stopping = new AbortController();
  #wholeRuns = 0;

  constructor(deps: RunManagerDeps, term: Term, activation: Activation) {
    this.#deps = deps;
    this.#term = term;
    this.#activation = activation;
  }

  /** Cleans up what an earlier leader left behind; on a fresh installation begins the first import. */
  async takeOver(): Promise<void> {
    const { snapshots, sources, log } = this.#deps;
    const occupation = this.#occupy("current");
    try {
      await this.#endAbandonedRuns();
      await this.#activation.resume();
      await this.#deps.restore();
      if ((await snapshots.currentId()) !== null) return;
      if (sources === "") {
        log.warn({}, "there is no snapshot yet, and SOURCES names no sources.yaml to import");
        return;
      }
      occupation.free();
      await this.start(firstImport);
    } catch (err) {
      if (!this.#term.signal.aborted) log.error({ err }, "cannot clean up after the previous leader");
    } finally {
      occupation.free();
    }
  }

  /** Begins a run of everything; resolves with its record. @throws RunInProgressError, LeadershipLostError, StoreError */
  async start(starter: Starter, acceptShrink: readonly SectionName[] = []): Promise<RunRecord> {
    return (await this.#begin(starter, this.#import(null, { acceptShrink, isBeside: false }))).run;
  }

  /** Runs the import of some sections; resolves at its end. @throws as `start` */
  async run(starter: Starter, scope: RunScope): Promise<RunOutcome> {
    return (await this.#begin(starter, this.#import(scope, { acceptShrink: [], isBeside: false }))).outcome;
  }

  /**
   * The same beside a run that may be in progress, for a few small sections. If both build a section, the one that is published first stays. @throws
   * as `start`
   */
  async runBeside(starter: Starter, scope: RunScope): Promise<RunOutcome> {
    return (await this.#begin(starter, this.#import(scope, { acceptShrink: [], isBeside: true }))).outcome;
  }

  /** Begins to make an earlier snapshot the current one; resolves with the record of the run. @throws as `start` */
  async rollBack(starter: Starter, asked: Rollback): Promise<RunRecord> {
    const { log } = this.#deps;
    const task: Task = {
      place: "beside",
      action: "snapshot.rollback",
      target: asked.snapshot,
      details: { replaces: asked.replaces },
      told: asked,
      kept: { replaces: asked.replaces },
      work: async (run, onProgress) => {
        const outcome = await this.#rollBack(asked, onProgress);
        if (outcome.ok) log.info({ run: run.id, snapshot: outcome.report.snapshot, replaces: asked.replaces }, "rollback succeeded");
        else if (this.#stopping.signal.aborted) log.info({ run: run.id, reason: outcome.message }, "run ended, because the service stops");
        else log.error({ run: run.id, reason: outcome.message }, "rollback failed");
        return outcome;
      },
    };
    return (await this.#begin(starter, task)).run;
  }

  /** Number of successful runs of everything. */
  get wholeRuns(): number {
    return this.#wholeRuns;
  }

  /** The progress of a run; null: it is not in progress, or has not reported any yet. */
  progressOf(id: string): ProgressEvent | null {
    const { current, beside } = this.#occupied;
    return [current, beside].find((occupation) => occupation?.id === id)?.progress ?? null;
  }

  /** Resolves when no run is in progress; another may begin in the next turn. */
  async idle(): Promise<void> {
    while (this.#occupied.current !== null) await this.#occupied.current.ended;
  }

  /** @param scope  null: everything, which is fetched first */
  #import(scope: RunScope | null, form: RunForm): Task {
    const { acceptShrink, isBeside } = form;
    const details = acceptShrink.length === 0 ? null : { accept_shrink: acceptShrink };
    return {
      place: isBeside ? "beside" : "current",
      action: "run.start",
      details,
      told: { ...(scope?.only && { sections: scope.only }), ...details },
      work: (run, onProgress) => this.#importNow(run, scope, form, onProgress),
    };
  }

  async #begin(starter: Starter, task: Task): Promise<{ readonly run: RunRecord; readonly outcome: Promise<RunOutcome> }> {
    const { action, target, details, told } = task;
    const occupation = this.#occupy(task.place);
    const { store, clock, log } = this.#deps;
    try {
      await this.#term.confirm();
      const startedAt = clock.now();
      const kept: KeptReport = { started_by: starter.actor, ...task.kept };
      const run: RunRecord = { id: newRunId(startedAt), startedAt, endedAt: null, state: "running", report: kept };
      const { actor, keyId, address } = starter;
      await store.audit.append({ at: startedAt, actor, action, target: target ?? run.id, address, keyId, details });
      await this.#keepBegin(run);
      occupation.id = run.id;
      log.info({ run: run.id, started_by: actor, ...told }, action === "run.start" ? "run started" : "rollback started");
      const outcome = this.#run(run, task, occupation).finally(() => occupation.free());
      return { run, outcome };
    } catch (error) {
      occupation.free();
      throw error;
    }
  }

  /** Ends the run in progress; resolves when its end is saved. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#occupied.current?.ended, this.#occupied.beside?.ended]);
  }

  /** @throws RunInProgressError */
  #occupy(place: "current" | "beside"): Occupation {
    const before = this.#occupied[place];
    if (before !== null) throw new RunInProgressError(before.id);
    const { promise, resolve } = Promise.withResolvers<void>();
    const occupation: Occupation = {
      id: null,
      progress: null,
      ended: promise,
      free: () => {
        if (this.#occupied[place] === occupation) this.#occupied[place] = null;
        resolve();
      },
    };
    this.#occupied[place] = occupation;
    return occupation;
  }

  /** Never rejects. */
  async #run(run: RunRecord, task: Task, occupation: Occupation): Promise<RunOutcome> {
    const { log, clock } = this.#deps;
    const tell = progressLines(log, run.id);
    const outcome = await task.work(run, (event) => {
      occupation.progress = event;
      tell(event);
    });
    await this.#keepEnd({
      ...run,
      endedAt: clock.now(),
      state: outcome.ok ? "succeeded" : "failed",
      report: { ...(run.report as KeptReport), ...outcome.report, error: outcome.ok ? null : outcome.message },
    });
    return outcome;
  }

  /** Never rejects. */
  async #importNow(run: RunRecord, scope: RunScope | null, form: RunForm, onProgress: ProgressListener): Promise<RunOutcome> {
    const { sources, log, metrics } = this.#deps;
    const begun = performance.now();
    const outcome: RunOutcome =
      sources === ""
        ? { ok: false, message: "no sources are configured: set SOURCES to a sources.yaml", report: null }
        : await this.#build(onProgress, scope, form);
    observeRun(metrics, outcome, performance.now() - begun);
    for (const { name: section, refused } of outcome.report?.sections ?? [])
      if (refused !== null)
        log.warn({ run: run.id, section, reason: refused }, "a section shrank too much; the previous version remains in use");
    if (outcome.ok && scope === null) this.#wholeRuns++;
    if (outcome.ok) log.info({ run: run.id, snapshot: outcome.report.snapshot, unchanged: outcome.report.unchanged }, "run succeeded");
    else if (this.#stopping.signal.aborted) log.info({ run: run.id, reason: outcome.message }, "run ended, because the service stops");
    else log.error({ run: run.id, reason: outcome.message }, "run failed; the previous snapshot remains in service");
    return outcome;
  }

  /** Never rejects. */
  async #rollBack(asked: Rollback, onProgress: ProgressListener): Promise<RunOutcome> {
    const signal = AbortSignal.any([this.#term.signal, this.#stopping.signal]);
    const place = await this.#order.enter();
    try {
      const { snapshots } = this.#deps;
      const confirm = () => this.#term.confirm();
      return await this.#activated({
        ok: true,
        report: await rollBack({ ...asked, store: snapshots, place, confirm, onProgress, signal }),
      });
    } catch (error) {
      return { ok: false, message: signal.aborted ? stopMessage(signal) : (error as Error).message, report: null };
    } finally {
      place.leave();
    }
  }

  async #build(onProgress: ProgressListener, given: RunScope | null, form: RunForm): Promise<RunOutcome> {
    const { restore, prepare, execute, settle, log } = this.#deps;
    const signal = AbortSignal.any([this.#term.signal, this.#stopping.signal]);
    let place: PublishPlace | null = null;
    try {
      // A run beside others starts only while a snapshot is in service, so that there is nothing to restore.
      if (!form.isBeside) await restore();
      const scope = given ?? (await prepare(signal, onProgress));
      const { files, only } = scope;
      const entered = await this.#order.enter();
      place = entered;
      let replaced: string | null = null;
      const confirm = async () => {
        const turn = await entered.turn();
        await this.#term.confirm();
        replaced = await this.#deps.snapshots.currentId();
        return turn;
      };
      const built = await execute({ files, only, ...form, onProgress, confirm, signal });
      await settle(scope, built.report).catch((err: unknown) =>
        log.error({ err }, "the state of the sources found by a run could not be saved"),
      );
      if (built.ok && built.report.snapshot !== null) entered.published({ replaced, id: built.report.snapshot });
      return await this.#activated(built);
    } catch (error) {
      const report = error instanceof SourcesAwayError ? error.report : null;
      return { ok: false, message: signal.aborted ? stopMessage(signal) : (error as Error).message, report };
    } finally {
      place?.leave();
    }
  }

  /** A run has succeeded only when its snapshot is in service. */
  async #activated(built: RunOutcome): Promise<RunOutcome> {
    if (!built.ok || built.report.snapshot === null) return built;
    const { report } = built;
    try {
      const { activated } = await this.#activation.activate(built.report.snapshot);
      if (activated) return built;
      const why = this.#term.signal.aborted ? "this process is no longer the leader" : "every pod rejected it";
      return { ok: false, message: `the snapshot was published but not activated: ${why}`, report };
    } catch (error) {
      return { ok: false, message: `the snapshot was published but not activated: ${(error as Error).message}`, report };
    }
  }

  /** @throws LeadershipLostError, StoreError; then the run is not left as running, unless the store does not take its end either. */
  async #keepBegin(run: RunRecord): Promise<void> {
    const { store, clock, log } = this.#deps;
    try {
      await store.runs.save(run);
      // If this process was frozen before it saved the run, the next leader has ended the runs that it found, without this one.
      await this.#term.confirm();
    } catch (error) {
      // A store that failed may have saved it all the same.
      const report = { ...(run.report as KeptReport), error: (error as Error).message };
      await store.runs
        .save({ ...run, endedAt: clock.now(), state: "failed", report })
        .catch((err: unknown) => log.error({ err, run: run.id }, "the result of a run could not be saved"));
      throw error;
    }
  }

  async #keepEnd(run: RunRecord): Promise<void> {
    const { store, log, saveAgainMs = saveAgainMsDefault } = this.#deps;
    // The next leader has ended it by now, or will: it began to lead after this run was saved.
    if (this.#term.signal.aborted) return;
    const signal = AbortSignal.any([this.#term.signal, this.#stopping.signal]);
    for (let isTold = false; ; isTold = true) {
      try {
        await store.runs.save(run);
        return;
      } catch (err) {
        if (!isTold) log.error({ err, run: run.id }, "the result of a run could not be saved");
      }
      // Otherwise it would stay running in the store for the rest of the term. A store that stays away ends the term.
      await sleep(saveAgainMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  async #endAbandonedRuns(): Promise<void> {
    const { store, clock, log } = this.#deps;
    const ended = await endAbandonedRuns({ runs: store.runs, clock, confirm: () => this.#term.confirm() });
    for (const { id } of ended) log.warn({ run: id }, "a run of a previous leader was marked as failed");
  }
}

/** Logs a line for each stage, and every few seconds within one. */
function progressLines(log: RunManagerDeps["log"], run: string): ProgressListener {
  let label = "";
  let toldAt = 0;
  return (event) => {
    const now = performance.now();
    if (event.label === label && now - toldAt < progressLineMs) return;
    label = event.label;
    toldAt = now;
    log.info({ run, stage: label, done: event.done, total: event.total, unit: event.unit }, "run in progress");
  };
}
