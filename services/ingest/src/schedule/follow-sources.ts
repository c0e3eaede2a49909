/** The schedule without a service around it: for the one-process form, which has its folder for itself. */

import type { Metrics } from "@netfacts/runtime";
import type { SnapshotStore, StoreSource } from "@netfacts/snapshot";
import type { ObservationRepository, Store } from "@netfacts/storage";
import { fetchContext } from "../fetch/config.ts";
import type { FetchConfig } from "../fetch/config-schema.ts";
import type { Term } from "../leadership/leadership.ts";
import { createIngestMetrics, type IngestMetrics } from "../metrics.ts";
import { measureKept } from "../publish/kept-snapshots.ts";
import { rtrDelayMsDefault } from "../rtr/index.ts";
import { RunManager } from "../runs/run-manager.ts";
import { RunThreads } from "../runs/run-threads.ts";
import type { ObservationsConfig } from "../uploads/config-schema.ts";
import type { ObservationSource } from "../uploads/open-observations.ts";
import { observationSettings } from "../uploads/settings.ts";
import { StoredWatch } from "../uploads/stored-watch.ts";
import { Lead, type LeadDeps } from "./lead.ts";

export interface FollowDeps {
  /** Uploaded observations; absent: there are none. */
  readonly observations?: FollowedObservations;
  /** Path of the sources.yaml. */
  readonly sources: string;
  readonly stateFolder: string;
  readonly fetching: FetchConfig;
  readonly store: Pick<Store, "runs" | "audit" | "profiles" | "statements">;
  readonly snapshots: SnapshotStore;
  /** How a run's thread opens the same store. */
  readonly snapshotSource: StoreSource;
  readonly clock: LeadDeps["clock"];
  readonly log: LeadDeps["log"];
  readonly metrics: Metrics | IngestMetrics;
}

export interface FollowedObservations {
  readonly repository: ObservationRepository;
  /** How a run's thread opens the same store. */
  readonly source: ObservationSource;
  readonly config: Pick<ObservationsConfig, "OBSERVATIONS_INTERVAL_SECONDS" | "OBSERVATIONS_ROWS_MAX">;
}

export interface Following {
  readonly runs: RunManager;
  readonly lead: Lead;
  /** Ends what is under way; nothing of it is published then. */
  stop(): Promise<void>;
}

export async function followSources(deps: FollowDeps): Promise<Following> {
  const { sources, stateFolder, snapshotSource, store, snapshots, clock, log } = deps;
  const metrics = "leads" in deps.metrics ? deps.metrics : createIngestMetrics(deps.metrics);
  const ending = new AbortController();
  // Who holds the folder leads.
  metrics.leads.set({}, 1);
  const term: Term = { signal: ending.signal, confirm: async () => undefined };
  const { observations } = deps;
  const stored =
    observations === undefined
      ? undefined
      : new StoredWatch({
          repository: observations.repository,
          intervalMs: observations.config.OBSERVATIONS_INTERVAL_SECONDS * 1_000,
          rowsMax: observations.config.OBSERVATIONS_ROWS_MAX,
          keptSeconds: async () => (await observationSettings(sources)).keptSeconds,
          clock,
          log,
          onChange: () => lead.poke(),
        });
  const lead = new Lead({
    sources,
    stored,
    stateFolder,
    scheduled: true,
    rtrMetrics: metrics.rtr,
    rtrDelayMs: rtrDelayMsDefault,
    fetching: fetchContext(deps.fetching),
    snapshots,
    profiles: store.profiles,
    statements: store.statements,
    metrics,
    log,
    clock,
  });
  const threads = new RunThreads(snapshotSource);
  const runs = new RunManager(
    {
      store,
      snapshots,
      // A copy on the same disk would be lost with it.
      restore: async () => undefined,
      sources,
      prepare: (signal, onProgress) => lead.prepare(signal, onProgress),
      settle: (scope, report) => lead.settle(scope, report),
      execute: (options) =>
        lead.alone(options.signal, () =>
          threads.run({
            sources,
            overrides: lead.overrides,
            statements: lead.statementFolder,
            observations: observations?.source ?? null,
            ...options,
          }),
        ),
      metrics,
      log,
      clock,
    },
    term,
    // Who serves the folder follows its pointer.
    { activate: async () => ({ activated: true }), resume: async () => null },
  );
  await runs.takeOver();
  stored?.start();
  measureKept(snapshots, metrics, ending.signal);
  await lead.follow(runs, term.signal);
  threads.prepare();
  return {
    runs,
    lead,
    async stop() {
      await Promise.all([lead.stop(), runs.stop(), stored?.stop(), threads.close()]);
      ending.abort();
    },
  };
}
