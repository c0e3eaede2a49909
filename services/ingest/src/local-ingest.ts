/** The operator API of the one-process form: a server on loopback, with a token that only the gateway in the same process has. */

import { randomBytes } from "node:crypto";
import { ProblemError } from "@netfacts/contracts";
import type { Logger, Metrics } from "@netfacts/runtime";
import type { SnapshotStore, StoreSource } from "@netfacts/snapshot";
import type { ObservationRepository, Store } from "@netfacts/storage";
import { installObservationRoutes } from "./http/observation-routes.ts";
import { installOperatorRoutes } from "./http/operator-routes.ts";
import { createServer } from "./http/server.ts";
import { installSnapshotRoutes } from "./http/snapshot-routes.ts";
import { createIngestMetrics } from "./metrics.ts";
import { overridesIn } from "./overrides/override-file.ts";
import type { FollowDeps, Following } from "./schedule/follow-sources.ts";
import { followSources } from "./schedule/follow-sources.ts";
import { type ObservationsConfig, uploadBounds } from "./uploads/config-schema.ts";
import type { ObservationSource } from "./uploads/open-observations.ts";
import { Uploads } from "./uploads/uploads.ts";

export interface LocalIngestDeps {
  readonly config: ObservationsConfig;
  readonly errorDocsBase: string;
  /** Path of the `sources.yaml`; empty if none is set. */
  readonly sources: string;
  /** Folder for fetched files. */
  readonly stateFolder: string;
  readonly store: Pick<Store, "runs" | "audit" | "profiles" | "statements">;
  readonly snapshots: SnapshotStore;
  /** How a thread opens the same store. */
  readonly snapshotSource: StoreSource;
  readonly observations: { readonly repository: ObservationRepository; readonly source: ObservationSource };
  readonly clock: { now(): number };
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly metrics: Metrics;
}

export interface LocalIngest {
  /** Where the gateway sends requests, each with `proxyToken`. */
  readonly url: string;
  readonly proxyToken: string;
  /** Starts to follow the sources and uploads. Nothing runs before. */
  follow(deps: Pick<FollowDeps, "sources" | "fetching">): Promise<void>;
  stop(): Promise<void>;
}

export async function startLocalIngest(deps: LocalIngestDeps): Promise<LocalIngest> {
  const { config, errorDocsBase, sources, stateFolder, store, snapshots, snapshotSource, observations, clock, log } = deps;
  const metrics = createIngestMetrics(deps.metrics);
  const proxyToken = randomBytes(32).toString("hex");
  let following: Following | null = null;
  const http = createServer({ proxyToken, errorDocsBase, metrics, log });
  const uploads = new Uploads({ ...uploadBounds(config), repository: observations.repository, audit: store.audit, clock });
  installObservationRoutes(http, { uploads, sources });
  const forwardToLeader = async (): Promise<never> => {
    const detail = "No sources are followed: start with SOURCES=, or use `netfacts ingest run` and `netfacts snapshot rollback`.";
    throw new ProblemError("upstream_unavailable", { detail });
  };
  installOperatorRoutes(http, {
    store,
    sources,
    overrides: overridesIn(stateFolder),
    snapshots,
    clock,
    runs: () => following?.runs ?? null,
    lead: () => following?.lead ?? null,
    forwardToLeader,
  });
  // Services in the same process load published snapshots by themselves.
  installSnapshotRoutes(http, {
    snapshots,
    source: snapshotSource,
    pods: () => null,
    runs: () => following?.runs ?? null,
    forwardToLeader,
  });
  const url = await http.listen({ host: "127.0.0.1", port: 0 });
  return {
    url,
    proxyToken,
    async follow(followed) {
      const followedObservations = { ...observations, config };
      following = await followSources({
        ...followed,
        stateFolder,
        observations: followedObservations,
        store,
        snapshots,
        snapshotSource,
        clock,
        log,
        metrics,
      });
    },
    async stop() {
      await http.close();
      await following?.stop();
    },
  };
}
