/** A process for the tests of telemetry: a Fastify server that may ask another one, with whatever the environment says about telemetry. */

import { createRequire } from "node:module";
import type { RequestItem } from "@netfacts/messaging";
import { runMain, startTelemetry } from "../../src/telemetry.ts";

const { TRACED_SERVICE: service = "traced", TRACED_NEXT: next = "" } = process.env;

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  const { createLogger, createMessageTracing, createMetrics, createRegistry, installStop, startOperationsServer } = await import(
    "../../src/index.ts"
  );
  const { default: fastify } = await import("fastify");
  const log = createLogger({ service });
  telemetry.onExport((fault) => {
    if (fault === null) log.info({}, "traces are exported again");
    else log.warn({ fault }, "traces cannot be exported");
  });
  const app = fastify();
  app.get("/ask/:what", async ({ headers: { authorization = "", baggage } }) => {
    log.info({ request_id: "r-1", baggage }, "asked");
    if (next === "") return "answered";
    const answer = await fetch(`${next}/ask/further?limit=1`, { headers: { authorization } });
    return `${await answer.text()} by the next`;
  });
  app.get("/fail", async ({ url }) => {
    throw new Error(`cannot read ${url}`);
  });
  const tracing = createMessageTracing();
  app.get("/item/:status", async ({ params }) => {
    const { status } = params as { status: string };
    const item = { op: "routing", query: "193.0.6.139", requestId: "r-2", traceparent: null, budgetMs: 1_000 };
    const asked = tracing?.startClient("ip-routing", "single", item) ?? null;
    // Answered where nothing of the request is active, as behind a network.
    await new Promise<void>((resolve) => {
      outside.push(() => {
        answer({ ...item, traceparent: asked?.traceparent ?? null });
        resolve();
      });
    });
    asked?.end(/^\d+$/.test(status) ? Number(status) : "timeout");
    return { sampled: asked !== null };
  });
  const outside: (() => void)[] = [];
  setInterval(() => {
    for (const work of outside.splice(0)) work();
  }, 5);
  const answer = (item: RequestItem) => {
    const span = tracing?.startServer("ip-routing", item) ?? null;
    const work = () => log.info({ request_id: item.requestId }, "answering");
    if (span === null) work();
    else span.run(work);
    span?.end(200);
  };
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
