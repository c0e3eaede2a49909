/** The server of the operator API: for gateways only, which authenticate with the proxy token. */

import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { headers, internalHeaders, ProblemError, requestIdPattern } from "@netfacts/contracts";
import { StoreError } from "@netfacts/storage";
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import type { IngestMetrics } from "../metrics.ts";
import { sendProblem } from "./problem.ts";

export interface ServerOptions {
  readonly proxyToken: string;
  readonly errorDocsBase: string;
  readonly metrics: IngestMetrics;
  /** Time without a byte in either direction after which a connection is closed: its other end may be gone. */
  readonly idleMs?: number;
  readonly log: { info(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** Time for which an unwanted body is read and dropped: if its connection closed with unread bytes, the refusal would be lost. */
const discardMsMax = 2_000;
const bodyBytesMax = 64 << 10;
/** Longer than the gateway's own limit, which applies as long as the gateway lives. */
const idleMsDefault = 60_000;
/** A body may take as long as the gateway allows; a stop waits for it at most this long. */
const stopMsMax = 5_000;

export function createServer({ proxyToken, errorDocsBase, metrics, log, idleMs = idleMsDefault }: ServerOptions): FastifyInstance {
  const app = Fastify({
    logger: false,
    requestIdHeader: false,
    genReqId: ({ headers: sent }) => requestIdOf(sent[headers.requestId]),
    bodyLimit: bodyBytesMax,
    connectionTimeout: idleMs,
    routerOptions: { querystringParser: () => ({}) },
    frameworkErrors: (_error, request, reply) => {
      void sendProblem(new ProblemError("bad_request"), request, reply, errorDocsBase);
    },
  });
  // Many clients send this type with every POST, even without a body.
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser<string>("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else parseJson(request, body, done);
  });
  app.addHook("preClose", (done) => {
    setTimeout(() => app.server.closeAllConnections(), stopMsMax).unref();
    done();
  });
  const expected = digestOf(proxyToken);
  app.addHook("onRequest", (request, reply, done) => {
    reply.header(headers.requestId, request.id);
    reply.raw.once("close", () => observe(request, reply.statusCode, metrics, log));
    const given = request.headers[internalHeaders.proxyToken];
    if (given === undefined)
      done(new ProblemError("missing_api_key", { detail: "This address accepts requests from gateways only.", headers: challenge }));
    else if (typeof given !== "string" || !timingSafeEqual(digestOf(given), expected))
      done(new ProblemError("invalid_api_key", { detail: "The proxy token does not match.", headers: challenge }));
    else done();
  });
  app.setErrorHandler(async (error, request, reply) => {
    const problem = problemOf(error);
    // A broken connection, or a gateway that stops, is not a failure of ours.
    if (isBrokenOff(error, request.raw)) log.info({ request_id: request.id }, "the connection ended before the body of the request");
    else if (problem.cause !== undefined) log.error({ request_id: request.id, code: problem.code, err: problem.cause }, "request failed");
    discardBody(request.raw);
    return sendProblem(problem, request, reply, errorDocsBase);
  });
  app.setNotFoundHandler(async () => {
    throw new ProblemError("route_not_found");
  });
  return app;
}

const challenge = { "www-authenticate": 'Bearer realm="netfacts"' };

/** Digests have the same length for any input. */
function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === "string" && requestIdPattern.test(sent) ? sent : randomUUID();
}

function problemOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const { code = "" } = error as { readonly code?: string };
  // Faults that the framework finds in a body: too long, not JSON, another type.
  if (code.startsWith("FST_ERR_CTP") || code === "FST_ERR_VALIDATION")
    return new ProblemError("invalid_body", { detail: "The body is not JSON that this route accepts." });
  if (error instanceof StoreError && error.fault !== "invalid") {
    // The store of runs, or of observations.
    const detail = error.fault === "full" ? "The disk of a store of ingest is full." : "A store of ingest is unavailable at the moment.";
    return new ProblemError("upstream_unavailable", { detail, cause: error });
  }
  return new ProblemError("internal_error", { cause: error });
}

function isBrokenOff(error: unknown, request: IncomingMessage): boolean {
  return (error as { readonly code?: string }).code === "ECONNRESET" && request.destroyed && !request.complete;
}

/**
 * Drops the body while the answer is sent. A client that reads it stops sending, which ends the connection; one that continues loses the connection.
 */
function discardBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.socket.destroy(), discardMsMax).unref();
  for (const event of ["end", "close"]) request.once(event, () => clearTimeout(timer));
  request.on("data", () => {});
  request.resume();
}

function observe(request: FastifyRequest, status: number, metrics: IngestMetrics, log: ServerOptions["log"]): void {
  const route = request.routeOptions.url ?? "none";
  metrics.requests.inc({ route, status });
  const key = request.headers[internalHeaders.keyId];
  log.info({ request_id: request.id, method: request.method, route, status, ...(typeof key === "string" && { key_id: key }) }, "request");
}
