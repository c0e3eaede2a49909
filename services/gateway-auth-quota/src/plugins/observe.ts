/** One log line and one measurement per request. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { logUrl } from "../http/echo.ts";
import type { GatewayMetrics } from "../metrics.ts";

/** What this service needs of a log. */
export interface RequestLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export function installObserver(app: FastifyInstance, log: RequestLog, metrics: GatewayMetrics): void {
  app.addHook("onRequest", (request, reply, done) => {
    metrics.requestBegun();
    // Not the hook onResponse: it never runs for a client that went away.
    reply.raw.on("close", () => {
      metrics.requestEnded();
      observeRequest(request, reply, log, metrics);
    });
    done();
  });
}

/** Call when the response has closed. */
export function observeRequest(request: FastifyRequest, reply: FastifyReply, log: RequestLog, metrics: GatewayMetrics): void {
  // The pattern, not the path: labels must not grow with what callers ask.
  const route = request.routeOptions.url ?? "none";
  const status = reply.raw.writableEnded ? reply.statusCode : "aborted";
  const elapsedMs = reply.elapsedTime;
  metrics.requests(route, status).inc();
  metrics.durations.observe({ route }, elapsedMs / 1_000);
  log.info(
    {
      request_id: request.id,
      method: request.method,
      url: logUrl(request.url),
      route,
      status,
      code: request.problemCode ?? undefined,
      duration_ms: Math.round(elapsedMs * 1_000) / 1_000,
      client: request.clientAddress,
      key: request.keyDisplay ?? undefined,
    },
    "request",
  );
}
