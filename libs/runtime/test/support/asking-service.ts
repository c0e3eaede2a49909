/** A service's process for the trace test: answers HTTP by looking a key up in MongoDB and asking `ip-routing` over NATS. */

import { runMain, startTelemetry } from "../../src/telemetry.ts";

const service = "gateway-auth-quota";

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  const { loadConfig, runService } = await import("../../src/index.ts");
  const [{ default: fastify }, { createNatsMessaging }, { parseKeyText }, { openMongoStore }, { default: Type }] = await Promise.all([
    import("fastify"),
    import("@netfacts/messaging/nats"),
    import("@netfacts/keys"),
    import("@netfacts/storage/mongo"),
    import("typebox"),
  ]);
  await runService({
    service,
    telemetry,
    loadConfig: () => loadConfig(Type.Object({ NATS_URL: Type.String(), MONGODB_URI: Type.String() })),
    async build({ config, log, tracing, onStop }) {
      const messaging = await createNatsMessaging({ servers: config.NATS_URL, name: service, tracing });
      onStop(() => messaging.close());
      const store = await openMongoStore(config.MONGODB_URI);
      onStop(() => store.close());
      const app = fastify();
      app.get("/routing/:ip", async ({ id, params, headers: { authorization = "" } }) => {
        const key = parseKeyText(authorization.replace("Bearer ", ""));
        await store.keys.find(key?.id ?? "00000000");
        const { ip } = params as { ip: string };
        const item = { op: "routing", query: ip, requestId: id, traceparent: null, budgetMs: 5_000 };
        const { status, body } = await messaging.request("ip-routing", "single", item);
        log.info({ request_id: id, status }, "request");
        return Buffer.from(body).toString();
      });
      let listening = false;
      return {
        async start() {
          const url = await app.listen({ port: 0, host: "127.0.0.1" });
          listening = true;
          log.info({ url }, "listening");
        },
        stop: () => app.close(),
        ready: () => listening,
      };
    },
  });
});
