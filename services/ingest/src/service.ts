/** Ingest as a service: the operator API, leadership, and the runs of the leader. */

import { randomUUID } from "node:crypto";
import { networkInterfaces } from "node:os";
import type { Broadcast } from "@netfacts/pod";
import { type Logger, listenAt, type Metrics, type ServiceApp, urlHost } from "@netfacts/runtime";
import type { SnapshotStore, StoreSource } from "@netfacts/snapshot";
import type { ObservationRepository, Store } from "@netfacts/storage";
import type { IngestConfig } from "./config.ts";
import { fetchContext } from "./fetch/config.ts";
import { forwarderToLeader, ownerName } from "./http/forward-to-leader.ts";
import { listenPlace } from "./http/listen-place.ts";
import { installObservationRoutes } from "./http/observation-routes.ts";
import { installOperatorRoutes } from "./http/operator-routes.ts";
import { createServer } from "./http/server.ts";
import { installSnapshotRoutes } from "./http/snapshot-routes.ts";
import { Leadership, type Term } from "./leadership/leadership.ts";
import { createIngestMetrics } from "./metrics.ts";
import { overridesIn } from "./overrides/override-file.ts";
import type { ActivationSettings } from "./publish/activation-coordinator.ts";
import { type OpenTerm, openTerm } from "./schedule/open-term.ts";
import { StateFolder } from "./state-folder.ts";
import { type ObservationsConfig, uploadBounds } from "./uploads/config-schema.ts";
import type { ObservationSource } from "./uploads/open-observations.ts";
import { Uploads } from "./uploads/uploads.ts";

export interface IngestDeps {
  readonly config: Pick<
    IngestConfig,
    | "SOURCES"
    | "INGEST_STATE_DIR"
    | "INGEST_SCHEDULE"
    | "INGEST_RTR_DELAY_MS"
    | keyof ObservationsConfig
    | "FETCH_CONTACT"
    | "FETCH_CA_FILE"
    | "INGEST_HOST"
    | "INGEST_PORT"
    | "INGEST_ADVERTISED_URL"
    | "INGEST_ADVERTISED_HOST"
    | "INGEST_LEASE_TTL_MS"
    | "PROXY_TOKEN"
    | "ERROR_DOCS_BASE"
  >;
  readonly store: Pick<Store, "runs" | "audit" | "leases" | "profiles" | "statements">;
  /** Uploaded observations, and how the thread of a run opens the same store. */
  readonly observations: { readonly repository: ObservationRepository; readonly source: ObservationSource };
  readonly snapshots: SnapshotStore;
  /** How a run's thread opens the same store. */
  readonly snapshotSource: StoreSource;
  readonly broadcast: Broadcast;
  /** How long to wait for pods. Default: `activationDefaults`. */
  readonly activation?: ActivationSettings;
  readonly clock: { now(): number; monotonic?(): number };
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly metrics: Metrics;
  /** Shows at `/readyz` what ingest waits for. */
  explain(topic: string, reason: string | null): void;
}

export interface IngestApp extends ServiceApp {
  /** URL of the operator API, once it has started. */
  url(): string;
  leads(): boolean;
}

export function buildService(deps: IngestDeps): IngestApp {
  const { config, store, snapshots, log, clock } = deps;
  const metrics = createIngestMetrics(deps.metrics);
  const fetching = fetchContext(config);
  let url = "";
  let leadership: Leadership | null = null;
  /** The last term, which may have ended already. */
  let current: OpenTerm | null = null;

  const led = () => (leadership?.term ? current : null);
  const http = createServer({ proxyToken: config.PROXY_TOKEN, errorDocsBase: config.ERROR_DOCS_BASE, metrics, log });
  const forwardToLeader = forwarderToLeader({ proxyToken: config.PROXY_TOKEN, leader: async () => (await leadership?.leader()) ?? null });
  installOperatorRoutes(http, {
    store,
    sources: config.SOURCES,
    overrides: overridesIn(config.INGEST_STATE_DIR),
    snapshots,
    clock,
    runs: () => led()?.work.runs ?? null,
    lead: () => led()?.work.lead ?? null,
    forwardToLeader,
  });

  installSnapshotRoutes(http, {
    snapshots,
    source: deps.snapshotSource,
    pods: () => led()?.activation.pods() ?? null,
    runs: () => led()?.work.runs ?? null,
    forwardToLeader,
  });

  const { repository } = deps.observations;
  const uploads = new Uploads({ ...uploadBounds(config), repository, audit: store.audit, clock });
  installObservationRoutes(http, { uploads, sources: config.SOURCES });

  const onTerm = (term: Term): void => {
    current = openTerm(
      {
        sources: config.SOURCES,
        stateFolder: config.INGEST_STATE_DIR,
        scheduled: config.INGEST_SCHEDULE,
        rtrDelayMs: config.INGEST_RTR_DELAY_MS,
        fetching,
        store,
        snapshots,
        snapshotSource: deps.snapshotSource,
        observations: { ...deps.observations, config },
        broadcast: deps.broadcast,
        activation: deps.activation ?? {},
        metrics,
        log,
        clock,
      },
      term,
    );
  };
  metrics.leads.set({}, 0);
  const stateFolder = new StateFolder({ folder: config.INGEST_STATE_DIR, log, explain: (fault) => deps.explain("state", fault) });

  return {
    async start() {
      url = await listenAt(listenPlace(config), (at) => http.listen(at));
      const advertised = config.INGEST_ADVERTISED_URL || advertisedUrl(config, url);
      const { monotonic } = clock;
      // No run would succeed in a folder that cannot be written, so another process may lead.
      const beginToLead = async (): Promise<void> => {
        if (leadership !== null) {
          leadership.resume();
          return;
        }
        leadership = new Leadership({
          leases: store.leases,
          owner: ownerName(advertised, randomUUID()),
          ttlMs: config.INGEST_LEASE_TTL_MS,
          log,
          onTerm,
          onStore: (fault) => {
            if (fault !== null) metrics.leaseErrors.inc();
            deps.explain("store", fault === null ? null : `the lease of the leader cannot be checked: ${fault.message}`);
          },
          ...(monotonic !== undefined && { monotonic: () => monotonic() }),
        });
        await leadership.start();
      };
      await stateFolder.start(beginToLead, async (fault) => leadership?.withhold(fault));
      log.info({ url, advertised_url: advertised, leads: leadership?.term != null }, "operator API is listening");
    },
    async stop() {
      stateFolder.stop();
      await http.close();
      // The schedule and the run stop first: the end of the run is stored while this process still leads.
      await current?.work.stop();
      await leadership?.stop();
      await current?.ended;
    },
    ready: () => leadership !== null && stateFolder.fault === null,
    url: () => url,
    leads: () => leadership !== null && leadership.term !== null,
  };
}

/** The address at which other processes reach this server. If it listens on every address: the first that is not loopback, preferably IPv4. */
function advertisedUrl({ INGEST_ADVERTISED_HOST, INGEST_HOST }: IngestDeps["config"], url: string): string {
  const { port } = new URL(url);
  if (INGEST_ADVERTISED_HOST !== "") return `http://${urlHost(INGEST_ADVERTISED_HOST)}:${port}`;
  if (INGEST_HOST !== "0.0.0.0" && INGEST_HOST !== "::") return url;
  const outer = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    // A link-local address needs a zone, which is valid on this machine only.
    .filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  const place = outer.find(({ family }) => family === "IPv4") ?? (INGEST_HOST === "::" ? outer[0] : undefined);
  return `http://${urlHost(place?.address ?? "127.0.0.1")}:${port}`;
}
