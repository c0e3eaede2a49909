/** All services in one process: in-process messaging, SQLite, snapshots in a folder. */

import { buildApp as buildAsnPrefix } from "@netfacts/asn-prefix/app";
import {
  buildApp as buildGateway,
  type Gateway,
  type GatewayConfig,
  storeAvailability,
  watchStore,
} from "@netfacts/gateway-auth-quota/app";
import { buildApp as buildIpRouting } from "@netfacts/ip-routing/app";
import { createInProcessMessaging } from "@netfacts/messaging";
import { PastThread, pastEvents, snapshotEvents } from "@netfacts/pod";
import { buildApp as buildRdnsResolver, openSqliteStore as openSharedAnswers, type RdnsConfig } from "@netfacts/rdns-resolver/app";
import { createMessageTracing, createMetrics, type Logger } from "@netfacts/runtime";
import { type Ipv4IndexForm, LoaderThreads, type PastOptions, SnapshotFollower, type SnapshotStore } from "@netfacts/snapshot";
import type { Store } from "@netfacts/storage";

export interface StandaloneDeps {
  readonly gateway: GatewayConfig;
  readonly resolver: RdnsConfig;
  readonly snapshots: SnapshotStore;
  /** Folder of `snapshots`, for the loader threads. */
  readonly snapshotsFolder: string;
  /** File with the answers of DNS, so that a restart does not ask again. */
  readonly answersFile: string;
  readonly ipv4Index?: Ipv4IndexForm;
  readonly past?: PastOptions;
  readonly store: Store;
  readonly clock: { now(): number };
  /** Makes a logger for the named service. */
  readonly log: (service: string) => Logger;
}

export interface Standalone {
  readonly gateway: Gateway;
  readonly dataset: SnapshotFollower;
  /** Snapshots that could not be loaded, with the errors. */
  readonly refused: ReadonlyMap<string, Error>;
  /** Why the store has refused every write for a while, as on a full disk; null: it does not. */
  storeFault(): string | null;
  /** Loads the current snapshot and starts all services. `gateway.listen` starts the listener. */
  start(): Promise<void>;
  /** Finishes what is in flight; the store stays open. */
  stop(): Promise<void>;
}

export async function buildApp(deps: StandaloneDeps): Promise<Standalone> {
  const { clock, store } = deps;
  const log = deps.log("standalone");
  const messaging = createInProcessMessaging({ tracing: createMessageTracing() });
  const refused = new Map<string, Error>();
  const metrics = createMetrics("standalone");
  const events = snapshotEvents(log, metrics);
  const { ipv4Index = "auto" } = deps;
  const source = { kind: "folder", path: deps.snapshotsFolder } as const;
  const dataset = new SnapshotFollower(deps.snapshots, new LoaderThreads(source), events, { ipv4Index, words: true });
  const past = new PastThread(
    source,
    dataset,
    pastEvents(log, metrics, () => past),
    deps.past,
  );
  dataset.listen({
    activated: ({ id }) => void refused.delete(id),
    refused: (id, error) => void refused.set(id, error),
  });
  const onFailure = (service: string) => (item: { op: string; requestId: string }, cause: unknown) =>
    deps.log(service).error({ err: cause, op: item.op, request_id: item.requestId }, "an answer failed");
  const services = [
    buildIpRouting({ messaging, dataset, past, clock, onFailure: onFailure("ip-routing") }),
    buildAsnPrefix({ messaging, dataset, past, clock, onFailure: onFailure("asn-prefix") }),
    await buildRdnsResolver({
      messaging,
      config: deps.resolver,
      clock,
      log: deps.log("rdns-resolver"),
      metrics: createMetrics("rdns-resolver"),
      openShared: async (options) => openSharedAnswers({ ...options, path: deps.answersFile, clock }),
    }),
  ];
  const gatewayLog = deps.log("gateway-auth-quota");
  const gatewayMetrics = createMetrics("gateway-auth-quota");
  const gateway = await buildGateway({ config: deps.gateway, messaging, store, log: gatewayLog, metrics: gatewayMetrics, clock });
  const available = storeAvailability(gatewayMetrics);
  available.set({}, 1);
  let storeFault: string | null = null;
  const storeWatch = watchStore(store.limits, deps.gateway, {
    available,
    log: gatewayLog,
    explain(reason) {
      storeFault = reason;
    },
  });
  return {
    gateway,
    dataset,
    refused,
    storeFault: () => storeFault,
    async start() {
      await dataset.start();
      for (const service of services) await service.start();
    },
    async stop() {
      storeWatch.stop();
      dataset.stop();
      await gateway.stop();
      for (const service of services) await service.stop();
      await messaging.close();
    },
  };
}
