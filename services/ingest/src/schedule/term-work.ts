/** The work of one term of leading: the schedule, its runs with their threads, and the watch of stored observations. */

import type { SnapshotStore, StoreSource } from "@netfacts/snapshot";
import type { ObservationRepository } from "@netfacts/storage";
import type { Term } from "../leadership/leadership.ts";
import { measureKept } from "../publish/kept-snapshots.ts";
import { type Activation, RunManager, type RunManagerDeps } from "../runs/run-manager.ts";
import { RunThreads } from "../runs/run-threads.ts";
import type { ObservationsConfig } from "../uploads/config-schema.ts";
import type { ObservationSource } from "../uploads/open-observations.ts";
import { observationSettings } from "../uploads/settings.ts";
import { StoredWatch } from "../uploads/stored-watch.ts";
import { Lead, type LeadDeps } from "./lead.ts";

/** Uploaded observations, and how a run's thread opens the same store. */
export interface LedObservations {
  readonly repository: ObservationRepository;
  readonly source: ObservationSource;
  readonly config: Pick<ObservationsConfig, "OBSERVATIONS_INTERVAL_SECONDS" | "OBSERVATIONS_ROWS_MAX">;
}

export interface TermWorkDeps
  extends Omit<LeadDeps, "stored" | "snapshots" | "profiles" | "statements" | "log">,
    Pick<RunManagerDeps, "snapshots" | "restore" | "log"> {
  readonly store: RunManagerDeps["store"] & { readonly profiles: LeadDeps["profiles"]; readonly statements: LeadDeps["statements"] };
  readonly snapshots: RunManagerDeps["snapshots"] & Parameters<typeof measureKept>[0] & Pick<SnapshotStore, "discardUnpublished">;
  /** How a run's thread opens the same store. */
  readonly snapshotSource: StoreSource;
  /** Undefined: no observations are read. */
  readonly observations: LedObservations | undefined;
  readonly activation: Activation;
}

export class TermWork {
  readonly lead: Lead;
  readonly runs: RunManager;
  readonly #deps: TermWorkDeps;
  readonly #term: Term;
  readonly #stored: StoredWatch | undefined;
  readonly #threads: RunThreads;

  constructor(deps: TermWorkDeps, term: Term) {
    this.#deps = deps;
    this.#term = term;
    const { sources, store, snapshots, observations, metrics, clock, log } = deps;
    this.#stored =
      observations === undefined
        ? undefined
        : new StoredWatch({
            repository: observations.repository,
            intervalMs: observations.config.OBSERVATIONS_INTERVAL_SECONDS * 1_000,
            rowsMax: observations.config.OBSERVATIONS_ROWS_MAX,
            keptSeconds: async () => (await observationSettings(sources)).keptSeconds,
            clock,
            log,
            onChange: () => this.lead.poke(),
          });
    const { profiles, statements } = store;
    this.lead = new Lead({ ...deps, stored: this.#stored, profiles, statements });
    this.#threads = new RunThreads(deps.snapshotSource);
    const { lead } = this;
    this.runs = new RunManager(
      {
        store,
        snapshots,
        restore: deps.restore,
        sources,
        prepare: (signal, onProgress) => lead.prepare(signal, onProgress),
        settle: (scope, report) => lead.settle(scope, report),
        execute: (options) =>
          lead.alone(options.signal, async () => {
            const built = await this.#threads.run({
              sources,
              overrides: lead.overrides,
              statements: lead.statementFolder,
              observations: observations?.source ?? null,
              ...options,
            });
            if (!built.ok) await this.#discard(options);
            return built;
          }),
        metrics,
        log,
        clock,
      },
      term,
      deps.activation,
    );
  }

  /** Cleans up what the previous leader left, then follows the schedule. @param onReady  called between both, unless the term has ended */
  async start(onReady: () => void = () => {}): Promise<void> {
    const { signal } = this.#term;
    await this.runs.takeOver();
    if (signal.aborted) return;
    onReady();
    this.#stored?.start();
    measureKept(this.#deps.snapshots, this.#deps.metrics, signal);
    this.#threads.prepare();
    await this.lead.follow(this.runs, signal);
  }

  /** Stops work in progress; nothing of it is published. */
  async stop(): Promise<void> {
    await Promise.all([this.lead.stop(), this.runs.stop(), this.#stored?.stop()]);
  }

  /** Removes what a failed run stored, so that the next run has the space. Call it while no other process runs in the folder. */
  async #discard({ confirm, signal }: Parameters<RunManagerDeps["execute"]>[0]): Promise<void> {
    const { snapshots, log } = this.#deps;
    try {
      const { isAlone } = await confirm();
      if (isAlone && !signal.aborted) await snapshots.discardUnpublished();
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, "what a failed run stored could not be removed; the next successful run removes it");
    }
  }

  /** Call it at the end of the term: stops the watch of the store and the waiting threads. */
  async close(): Promise<void> {
    await Promise.all([this.#stored?.stop(), this.#threads.close()]);
  }
}
