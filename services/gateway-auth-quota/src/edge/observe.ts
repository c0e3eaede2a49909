/** One log line and one measurement per request. */

import { infoLines } from "@netfacts/runtime";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { GatewayMetrics } from "../metrics.ts";
import { logUrl } from "./echo.ts";

/** The part of a log that this service uses. */
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
    // The hook onResponse never runs if the client went away.
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
    // The pattern, not the path: the number of labels must not grow with the requests.
    const { url = "none", config } = request.routeOptions;
    const route = request.refusedPath ?? config.documentedPath ?? url;
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

/** Log lines per second for refused requests. Further ones say nothing new, and metrics count each request. */
const refusalLinesMax = 50;

/** @returns a function that says whether the line of the next refused request is written. One line per window reports how many were left out. */
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

/** The fields as JSON members; written by hand, because no other line is so frequent. Only the URL needs escaping: the rest is ours or checked. */
export function requestMembers(fields: RequestFields): string {
  const { request_id, method, url, route, status, code, duration_ms, client, key } = fields;
  return (
    `,"request_id":"${request_id}","method":"${method}","url":${JSON.stringify(url)},"route":"${route}"` +
    `,"status":${status === "aborted" ? '"aborted"' : status}${code === undefined ? "" : `,"code":"${code}"`}` +
    `,"duration_ms":${duration_ms},"client":"${client}"${key === undefined ? "" : `,"key":"${key}"`}`
  );
}
