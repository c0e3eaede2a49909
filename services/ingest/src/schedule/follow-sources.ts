/** The schedule without a service around it, for the one-process form, which has its folder to itself. */

import type { Metrics } from "@netfacts/runtime";
import type { SnapshotStore, StoreSource } from "@netfacts/snapshot";
import type { Store } from "@netfacts/storage";
import { fetchContext } from "../fetch/config.ts";
import type { FetchConfig } from "../fetch/config-schema.ts";
import { createIngestMetrics, type IngestMetrics } from "../metrics.ts";
import { rtrDelayMsDefault } from "../rtr/index.ts";
import type { RunManager } from "../runs/run-manager.ts";
import type { Lead, LeadDeps } from "./lead.ts";
import { type LedObservations, TermWork } from "./term-work.ts";

export interface FollowDeps {
  /** Uploaded observations; absent: there are none. */
  readonly observations?: LedObservations;
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

export interface Following {
  readonly runs: RunManager;
  readonly lead: Lead;
  /** Stops work in progress; nothing of it is published. */
  stop(): Promise<void>;
}

export async function followSources({ fetching, observations, ...deps }: FollowDeps): Promise<Following> {
  const metrics = "leads" in deps.metrics ? deps.metrics : createIngestMetrics(deps.metrics);
  const ending = new AbortController();
  // The process that holds the folder leads.
  metrics.leads.set({}, 1);
  const work = new TermWork(
    {
      ...deps,
      observations,
      scheduled: true,
      rtrDelayMs: rtrDelayMsDefault,
      fetching: fetchContext(fetching),
      // A copy on the same disk would be lost with it.
      restore: async () => undefined,
      // The process that serves the folder follows its pointer.
      activation: { activate: async () => ({ activated: true }), resume: async () => null },
      metrics,
    },
    { signal: ending.signal, confirm: async () => undefined },
  );
  await work.start();
  return {
    runs: work.runs,
    lead: work.lead,
    async stop() {
      await Promise.all([work.stop(), work.close()]);
      ending.abort();
    },
  };
}
