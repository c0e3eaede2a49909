/** The process of ingest. It leads or stands by, and imports on schedule, when operators start a run, and in a new installation. */

import { runMain, startTelemetry } from "@netfacts/runtime/telemetry";

const service = "ingest";

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  // Loaded after the telemetry has started: modules that are loaded earlier are not instrumented.
  const { runService, systemClock } = await import("@netfacts/runtime");
  const { natsConnection, openBus } = await import("@netfacts/runtime/bus");
  const { connectJetStreamStore, jetStreamSource } = await import("@netfacts/pod/jetstream");
  const { retentionOf } = await import("@netfacts/snapshot");
  const { openMongoStore } = await import("@netfacts/storage/mongo");
  const { buildApp } = await import("./app.ts");
  const { loadIngestConfig } = await import("./config.ts");
  const { listenPlace } = await import("./http/listen-place.ts");

  await runService({
    service,
    telemetry,
    loadConfig: loadIngestConfig,
    places: (config) => [listenPlace(config)],
    async build(context) {
      const { config, log, metrics, stopping, explain, onStop } = context;
      const broadcast = await openBus(service, config, context);
      const store = await openMongoStore(config.MONGODB_URI, {
        appName: service,
        onWaiting: (err) => {
          log.warn({ err }, "store is unavailable; the service starts when it becomes available");
          explain("store", err.message);
        },
        signal: stopping,
      });
      explain("store", null);
      onStop(() => store.close());
      const source = {
        bucket: config.SNAPSHOT_BUCKET,
        replicas: config.SNAPSHOT_REPLICAS,
        retention: retentionOf(config),
        connection: natsConnection(`${service}-snapshots`, config),
      };
      const snapshots = await connectJetStreamStore(source);
      onStop(() => snapshots.close());
      return buildApp({
        config,
        store,
        observations: { repository: store.observations, source: { kind: "mongo", uri: config.MONGODB_URI } },
        snapshots: snapshots.store,
        snapshotSource: jetStreamSource(source),
        broadcast,
        clock: systemClock,
        log,
        metrics,
        explain,
      });
    },
  });
});
