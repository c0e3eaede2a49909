/** One log line and one measurement per request. */

import { infoLines } from "@netfacts/runtime";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { GatewayMetrics } from "../metrics.ts";
import { logUrl } from "./echo.ts";

/** What this service needs of a log. */
export interface RequestLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Call when the response has closed. */
export type RequestObserver = (request: FastifyRequest, reply: FastifyReply) => void;

export function installObserver(app: FastifyInstance, log: RequestLog, metrics: GatewayMetrics): void {
  const observe = requestObserver(log, metrics);
  app.addHook("onRequest", (request, reply, done) => {
    metrics.requestBegun();
    // Not the hook onResponse: it never runs for a client that went away.
    reply.raw.on("close", () => {
      metrics.requestEnded();
      observe(request, reply);
    });
    done();
  });
}

export function requestObserver(log: RequestLog, metrics: GatewayMetrics): RequestObserver {
  const writeLine = infoLines(log, "request");
  const isSampled = refusalSampler(log);
  return (request, reply) => {
    // The pattern, not the path: labels must not grow with what callers ask.
    const route = request.refusedPath ?? request.routeOptions.url ?? "none";
    const status = reply.raw.writableEnded ? reply.statusCode : "aborted";
    const elapsedMs = reply.elapsedTime;
    metrics.requests(route, status).inc();
    metrics.durations(route).observe(elapsedMs / 1_000);
    if (typeof status === "number" && status >= 400 && !isSampled()) return;
    const fields: RequestFields = {
      request_id: request.id,
      method: request.method,
      url: logUrl(request.url),
      route,
      status,
      code: request.problemCode ?? undefined,
      duration_ms: Math.round(elapsedMs * 1_000) / 1_000,
      client: request.clientAddress,
      key: request.keyDisplay ?? undefined,
    };
    if (writeLine === null) log.info(fields, "request");
    else writeLine(requestMembers(fields));
  };
}

/** Lines of refused requests in a second; more of them say nothing new, and metrics count each. */
const refusalLinesMax = 50;

/** @returns whether the line of one more refused request is written. Lines that are left out are counted in a line each second. */
export function refusalSampler(log: Pick<RequestLog, "warn">, { linesMax = refusalLinesMax, windowMs = 1_000 } = {}): () => boolean {
  let lines = 0;
  let timer: NodeJS.Timeout | null = null;
  const end = (): void => {
    const left = lines - linesMax;
    timer = null;
    lines = 0;
    if (left > 0) log.warn({ requests: left }, "refused requests were left out of the log");
  };
  return () => {
    if (timer === null) timer = setTimeout(end, windowMs).unref();
    return ++lines <= linesMax;
  };
}

export interface RequestFields {
  readonly request_id: string;
  readonly method: string;
  readonly url: string;
  readonly route: string;
  readonly status: number | "aborted";
  readonly code: string | undefined;
  readonly duration_ms: number;
  readonly client: string;
  readonly key: string | undefined;
}

/** As members of JSON: no other line is written so often. Only a URL can have something to escape; all else is of our making or was checked. */
export function requestMembers(fields: RequestFields): string {
  const { request_id, method, url, route, status, code, duration_ms, client, key } = fields;
  return (
    `,"request_id":"${request_id}","method":"${method}","url":${JSON.stringify(url)},"route":"${route}"` +
    `,"status":${status === "aborted" ? '"aborted"' : status}${code === undefined ? "" : `,"code":"${code}"`}` +
    `,"duration_ms":${duration_ms},"client":"${client}"${key === undefined ? "" : `,"key":"${key}"`}`
  );
}
