/** The process of the gateway: HTTP before NATS, keys and limits in MongoDB. */

import { runMain, startTelemetry } from "@netfacts/runtime/telemetry";

const service = "gateway-auth-quota";

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  // Only now: what is imported earlier is not instrumented.
  const { loadConfig, loadConfigs, runService, systemClock } = await import("@netfacts/runtime");
  const { busConfigSchema, openBus } = await import("@netfacts/runtime/bus");
  const { openMongoStore } = await import("@netfacts/storage/mongo");
  const { buildApp, loadGatewayConfig, storeConfigSchema } = await import("./app.ts");
  const { Readiness } = await import("./readiness.ts");

  await runService({
    service,
    telemetry,
    loadConfig: () =>
      loadConfigs({
        gateway: () => loadGatewayConfig(),
        bus: () => loadConfig(busConfigSchema),
        store: () => loadConfig(storeConfigSchema),
      }),
    drainMs: ({ gateway }) => gateway.DRAIN_SECONDS * 1_000,
    async build(frame) {
      const { config, log, metrics, stopping, onStop } = frame;
      const messaging = await openBus(service, config.bus, frame);
      const store = await openMongoStore(config.store.MONGODB_URI, {
        appName: service,
        onWaiting: (err) => log.warn({ err }, "store is unavailable; the service starts when it becomes available"),
        signal: stopping,
      });
      onStop(() => store.close());
      const gateway = await buildApp({ config: config.gateway, messaging, store, log, metrics, clock: systemClock });
      const readiness = new Readiness({ messaging, askMs: 500 });
      let listening = false;
      return {
        async start() {
          const url = await gateway.listen();
          listening = true;
          log.info({ url }, "listening");
        },
        async stop() {
          await readiness.stop();
          await gateway.stop();
        },
        ready: () => listening && readiness.isReady,
      };
    },
  });
});
