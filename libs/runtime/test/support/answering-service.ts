/** A service's process for the trace test: answers `routing` over NATS. */

import { runMain, startTelemetry } from "../../src/telemetry.ts";

const service = "ip-routing";

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  const { loadConfig, runService } = await import("../../src/index.ts");
  const [{ createResponder }, { createNatsMessaging }, { default: Type }] = await Promise.all([
    import("@netfacts/messaging"),
    import("@netfacts/messaging/nats"),
    import("typebox"),
  ]);
  await runService({
    service,
    telemetry,
    loadConfig: () => loadConfig(Type.Object({ NATS_URL: Type.String() })),
    async build({ config, log, tracing, onStop }) {
      const messaging = await createNatsMessaging({ servers: config.NATS_URL, name: service, tracing });
      onStop(() => messaging.close());
      const handler = createResponder({
        enter: () => ({ context: null }),
        ops: new Map([
          [
            "routing",
            ({ query, requestId }) => {
              log.info({ request_id: requestId }, "answering");
              const body = Buffer.from(JSON.stringify({ ip: query }));
              const freshness = { cacheable: true, maxAgeSeconds: 1, etag: "" };
              return { status: 200, contentType: "json", body, counted: true, snapshotId: "", ...freshness };
            },
          ],
        ]),
        onFailure: ({ requestId }, err) => log.error({ request_id: requestId, err }, "routing failed"),
      });
      let subscription: Awaited<ReturnType<typeof messaging.serve>> | null = null;
      return {
        async start() {
          subscription = await messaging.serve(service, handler);
        },
        async stop() {
          await subscription?.stop();
        },
        ready: () => subscription !== null,
      };
    },
  });
});
