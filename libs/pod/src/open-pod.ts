/** A process that answers from snapshots: it follows those in JetStream, and reports to ingest which ones it loaded. */

import { hostname } from "node:os";
import { operations } from "@netfacts/contracts";
import type { Messaging } from "@netfacts/messaging";
import type { ServiceApp, ServiceContext } from "@netfacts/runtime";
import { busConfigSchema, natsConnection, openBus } from "@netfacts/runtime/bus";
import { followerDefaults, ipv4IndexConfig, LoaderThreads, pastConfigSchema, pastOptionsOf, SnapshotFollower } from "@netfacts/snapshot";
import Type, { type Static } from "typebox";
import { connectJetStreamStore, jetStreamSource } from "./jetstream/index.ts";
import { PastThread } from "./past/past-thread.ts";
import { PodReporter } from "./pod-reporter.ts";
import { pastEvents, snapshotEvents } from "./snapshot-events.ts";

/** Settings of every service that answers from snapshots: the bus, the place of snapshots, and their indexes. */
export const podConfigSchema = Type.Object({
  ...busConfigSchema.properties,
  SNAPSHOT_BUCKET: Type.String({
    default: "netfacts-snapshots",
    pattern: "^[A-Za-z0-9_-]+$",
    allowed: "letters, digits, - and _",
    description: "Name of the Object Store and key-value bucket that hold snapshots",
  }),
  SNAPSHOT_KEEP_MS: Type.Integer({
    default: followerDefaults.keepMs,
    minimum: 1_000,
    maximum: 86_400_000,
    description:
      "Time for which a replaced snapshot is kept, so that lists that started in it can be continued, in ms; each one uses memory",
  }),
  SNAPSHOT_KEEP_MIB: Type.Integer({
    default: followerDefaults.spareBytes / 2 ** 20,
    minimum: 0,
    maximum: 65_536,
    description:
      "Memory that replaced snapshots may take, in MiB beyond as much as the one in service takes; above that, the oldest are dropped early, but never the newest",
  }),
  POD_NAME: Type.String({ default: "", description: "Unique name of this process; if empty, the host name and the process id" }),
  ...ipv4IndexConfig,
  ...pastConfigSchema.properties,
  HISTORY_READ_MIB_PER_SECOND: Type.Integer({
    default: 24,
    minimum: 0,
    description:
      "Rate at which snapshots of the past are read from JetStream, in MiB per second; a lower one delays requests about the present less; 0: as fast as possible",
  }),
});

export type PodConfig = Static<typeof podConfigSchema>;

export interface DatasetPod {
  readonly messaging: Messaging;
  readonly dataset: SnapshotFollower;
  readonly past: PastThread;
  /** Makes the process of the service: it follows snapshots, and starts the app when the first one is loaded. */
  serve(app: Pick<ServiceApp, "start" | "stop">): ServiceApp;
}

/** Opens the connections to other services and to the snapshots; they are closed when the service stops. */
export async function openPod(service: string, config: PodConfig, context: ServiceContext<unknown>): Promise<DatasetPod> {
  const { log, metrics, explain, onStop } = context;
  const source = { bucket: config.SNAPSHOT_BUCKET, connection: natsConnection(`${service}-snapshots`, config) };
  const mibPerSecond = config.HISTORY_READ_MIB_PER_SECOND;
  const loaderSource = jetStreamSource({ ...source, backgroundBytesPerSecond: mibPerSecond === 0 ? null : mibPerSecond * 2 ** 20 });
  // Early, so that the thread loads its modules while this one connects.
  const loader = new LoaderThreads(loaderSource);
  const messaging = await openBus(service, config, context);
  const { store, close } = await connectJetStreamStore(source);
  onStop(close);
  const dataset = new SnapshotFollower(store, loader, snapshotEvents(log, metrics), {
    ipv4Index: config.IPV4_INDEX,
    keepMs: config.SNAPSHOT_KEEP_MS,
    spareBytes: config.SNAPSHOT_KEEP_MIB * 2 ** 20,
    words: operations.search.service === service,
  });
  const past = new PastThread(
    loaderSource,
    dataset,
    pastEvents(log, metrics, () => past),
    pastOptionsOf(config),
  );
  const pod = config.POD_NAME || `${hostname()}-${process.pid}`;
  const reporter = new PodReporter({ follower: dataset, broadcast: messaging, pod, service });
  return {
    messaging,
    dataset,
    past,
    serve(app) {
      let serving: Promise<void> | null = null;
      let ready = false;
      const serveOnce = () => {
        serving ??= app.start().then(
          () => {
            ready = true;
            log.info("ready for requests");
          },
          (err: unknown) => log.error({ err }, "not ready for requests"),
        );
      };
      dataset.listen({
        activated() {
          explain("snapshot", null);
          serveOnce();
        },
      });
      return {
        async start() {
          await dataset.start();
          reporter.start();
          if (dataset.current() === null) {
            explain("snapshot", "no snapshot yet: none was published, or the log says why it cannot be loaded");
            log.warn("no snapshot available yet; ready for requests once ingest has published or restored one");
          }
          await serving;
        },
        async stop() {
          // First, so that no snapshot that is loaded now starts the app.
          dataset.stop();
          await serving;
          await app.stop();
          await reporter.stop();
        },
        ready: () => ready,
      };
    },
  };
}
