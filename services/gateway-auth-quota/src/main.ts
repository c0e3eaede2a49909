/** The process of the gateway: HTTP before NATS, keys and limits in MongoDB. */

import { runMain, startTelemetry } from "@netfacts/runtime/telemetry";

const service = "gateway-auth-quota";

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  // Import only now: earlier imports are not instrumented.
  const { loadConfig, loadConfigs, runService, systemClock } = await import("@netfacts/runtime");
  const { busConfigSchema, openBus } = await import("@netfacts/runtime/bus");
  const { openMongoStore } = await import("@netfacts/storage/mongo");
  const { buildApp, listenPlaces, loadGatewayConfig, loadStoreConfig } = await import("./app.ts");
  const { collectBuffersYoung } = await import("./collections.ts");
  const { Readiness } = await import("./readiness.ts");
  const { storeAvailability, watchStore } = await import("./store-watch.ts");

  collectBuffersYoung();
  await runService({
    service,
    telemetry,
    loadConfig: () =>
      loadConfigs({
        gateway: () => loadGatewayConfig(),
        bus: () => loadConfig(busConfigSchema),
        store: () => loadStoreConfig(),
      }),
    drainMs: ({ gateway }) => gateway.DRAIN_SECONDS * 1_000,
    places: ({ gateway }) => Object.values(listenPlaces(gateway)),
    async build(context) {
      const { config, log, metrics, stopping, explain, onStop } = context;
      const messaging = await openBus(service, config.bus, context);
      // Register the metric only now, so that it has no series before the database is asked.
      const storeAnswers = storeAvailability(metrics);
      storeAnswers.set({}, 0);
      const store = await openMongoStore(config.store.MONGODB_URI, {
        appName: service,
        onWaiting: (err) => {
          log.warn({ err }, "store is unavailable; the service starts when it becomes available");
          explain("store", err.message);
        },
        onInvalid: (err) => log.error({ err }, "a document of the database is not valid; requests that need it are refused"),
        signal: stopping,
      });
      explain("store", null);
      storeAnswers.set({}, 1);
      onStop(() => store.close());
      const gateway = await buildApp({ config: config.gateway, messaging, store, log, metrics, clock: systemClock });
      explain("lookups", "neither ip-routing nor asn-prefix has answered yet: they answer once they have a snapshot");
      const readiness = new Readiness({ messaging, askMs: 500, onAnswered: () => explain("lookups", null) });
      const storeWatch = watchStore(store.limits, config.gateway, {
        available: storeAnswers,
        log,
        explain: (reason) => explain("store", reason),
      });
      let listening = false;
      return {
        async start() {
          const url = await gateway.listen();
          listening = true;
          log.info({ url }, "listening");
        },
        async stop() {
          storeWatch.stop();
          await readiness.stop();
          await gateway.stop();
        },
        ready: () => listening && readiness.isReady && !storeWatch.isLost,
      };
    },
  });
});
