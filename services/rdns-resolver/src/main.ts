/** The process of the reverse DNS resolver. */

import { runMain, startTelemetry } from "@netfacts/runtime/telemetry";

const service = "rdns-resolver";

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  // Import only now: earlier imports are not instrumented.
  const { loadConfig, loadConfigs, runService, systemClock } = await import("@netfacts/runtime");
  const { busConfigSchema, natsConnection, openBus } = await import("@netfacts/runtime/bus");
  const { openJetStreamStore } = await import("./shared/jetstream-store.ts");
  const { buildApp, loadRdnsConfig } = await import("./app.ts");

  await runService({
    service,
    telemetry,
    loadConfig: () => loadConfigs({ resolver: () => loadRdnsConfig(), bus: () => loadConfig(busConfigSchema) }),
    async build(context) {
      const { config, log, metrics } = context;
      const messaging = await openBus(service, config.bus, context);
      const connection = natsConnection("rdns-resolver-cache", config.bus);
      return buildApp({
        messaging,
        clock: systemClock,
        log,
        metrics,
        config: config.resolver,
        openShared: (options) => openJetStreamStore({ ...options, connection }),
      });
    },
  });
});
