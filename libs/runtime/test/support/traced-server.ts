/** A process for the tests of telemetry: a Fastify server that may ask another one, with whatever the environment says about telemetry. */

import { createRequire } from "node:module";
import { runMain, startTelemetry } from "../../src/telemetry.ts";

const { TRACED_SERVICE: service = "traced", TRACED_NEXT: next = "" } = process.env;

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  const { createLogger, createMetrics, createRegistry, installStop, startOperationsServer } = await import("../../src/index.ts");
  const { default: fastify } = await import("fastify");
  const log = createLogger({ service });
  telemetry.onExport((fault) => {
    if (fault === null) log.info({}, "traces are sent again");
    else log.warn({ fault }, "traces cannot be sent");
  });
  const app = fastify();
  app.get("/ask/:what", async ({ headers: { authorization = "" } }) => {
    log.info({ request_id: "r-1" }, "asked");
    if (next === "") return "answered";
    const answer = await fetch(`${next}/ask/further?limit=1`, { headers: { authorization } });
    return `${await answer.text()} by the next`;
  });
  app.get("/fail", async ({ url }) => {
    throw new Error(`cannot read ${url}`);
  });
  const metrics = createMetrics(service, createRegistry());
  const operations = await startOperationsServer({ host: "127.0.0.1", port: 0, ready: () => true, metrics });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  installStop({
    log,
    async stop() {
      await app.close();
      await operations.close();
      await telemetry.stop();
    },
  });
  const { cache } = createRequire(import.meta.url);
  const loaded = Object.keys(cache).some((path) => path.includes("@fastify/otel"));
  process.stdout.write(`${JSON.stringify({ url, operationsUrl: operations.url, loaded })}\n`);
});
