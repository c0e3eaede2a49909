/** A listener, public or for operators: Fastify with our limits, ids and problems in place of its own, and the first steps of every request. */

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import Fastify, { type FastifyInstance } from "fastify";
import type { GatewayConfig } from "../config.ts";
import type { GatewayMetrics } from "../metrics.ts";
import { leavePermissionToRoutes } from "./body-permission.ts";
import type { CallerTurns } from "./caller-turns.ts";
import { Connections } from "./connections.ts";
import { type CorsOrigins, createCors } from "./cors.ts";
import { KeylessGate, type KeylessOptions } from "./keyless-gate.ts";
import { installObserver, type RequestLog, requestObserver } from "./observe.ts";
import { clientErrorHandler, connectCode, frameworkProblem, installProblems, type ProblemOptions, sendProblem } from "./problems.ts";
import { RefusalGate } from "./refusal-gate.ts";
import { installRequestContext } from "./request-context.ts";
import { requestIdOf } from "./request-id.ts";
import { clientAddress, isTrustedPeer, proxyTrust } from "./trusted-proxies.ts";

/** A socket with the response that is being written to it. */
type AnsweringSocket = Duplex & { readonly _httpMessage?: ServerResponse | null };

declare module "fastify" {
  interface FastifyInstance {
    readonly connections: Connections;
  }
}

export interface ListenerOptions {
  readonly config: GatewayConfig;
  readonly clock: { now(): number };
  readonly log: RequestLog;
  readonly metrics: GatewayMetrics;
  readonly problems: ProblemOptions;
  readonly isStopping: () => boolean;
  readonly turns: CallerTurns;
  /** The bucket of a known key in this header; null: there is none. */
  bucketOf(authorization: string): string | null;
  /** Conditions that limit requests without a valid key; absent: neither these requests nor refused requests of a key are limited. */
  readonly keyless?: Pick<KeylessOptions, "isStrained" | "isKnownKey">;
}

/** Interval at which Node looks for connections that exceed a time limit: at most a fifth of this limit. */
const timeoutCheckMs = (boundMs: number) => Math.min(5_000, Math.ceil(boundMs / 5));

/** The path and query of a request target, which may be a whole URL (RFC 9112 §3.2.2), as clients send it to proxies. */
function originForm(target: string): string {
  if (target.startsWith("/")) return target;
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0];
  if (origin === undefined) return target;
  const rest = target.slice(origin.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/**
 * Makes a listener without routes. It answers problems, writes the log, and gives each request its id and the address of its client.
 *
 * @param corsOrigins origins whose scripts may call.
 * @param resource    name of its connections in metrics and log lines.
 */
export function createListener(options: ListenerOptions, corsOrigins: CorsOrigins, resource: string): FastifyInstance {
  const { config, clock, log, metrics, problems, isStopping } = options;
  const trust = proxyTrust(config.TRUSTED_PROXIES, config.FORWARDING_HEADER);
  const { fixedHeaders } = problems;
  const cors = createCors(corsOrigins);
  const observe = requestObserver(log, metrics);
  const refuse = clientErrorHandler({ ...problems, fixedHeaders: { ...fixedHeaders, ...cors.ofUnreadable } });
  const app = Fastify({
    logger: false,
    // `trusted-proxies.ts` reads the address of the client.
    trustProxy: false,
    requestIdHeader: false,
    rewriteUrl: ({ url = "/" }) => originForm(url),
    genReqId: ({ headers }) => requestIdOf(headers["x-request-id"], clock.now()),
    // GET routes answer HEAD themselves. While the gateway stops, requests are refused with our own problem.
    exposeHeadRoutes: false,
    return503OnClosing: false,
    // A batch or an upload may last for hours. `installBodyTime` and `endIdleConnections` limit the rest.
    requestTimeout: 0,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT_MS,
    http: {
      maxHeaderSize: config.HEADER_BYTES_MAX,
      headersTimeout: config.HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: timeoutCheckMs(config.HEADERS_TIMEOUT_MS),
      // We refuse a missing Host ourselves, with a problem.
      requireHostHeader: false,
    },
    routerOptions: {
      // Never reached: we limit the length of a URL ourselves.
      maxParamLength: config.HEADER_BYTES_MAX,
      // Our own code reads query values, because it must see repetitions.
      querystringParser: () => ({}),
    },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: true } },
    frameworkErrors(error, request, reply) {
      // No hook runs for these errors, so this does the work of the hooks.
      request.clientAddress = clientAddress(request.headers, request.socket.remoteAddress ?? "", trust);
      reply.headers(fixedHeaders).header("x-request-id", request.id);
      request.keyDisplay = null;
      reply.raw.once("close", () => observe(request, reply));
      if (cors.allow(request, reply)) return;
      cors.vary(reply);
      const isTooLong = request.url.length > config.URL_BYTES_MAX;
      sendProblem(frameworkProblem(isTooLong ? { code: "FST_ERR_MAX_PARAM_LENGTH" } : error, request.url), request, reply, problems);
    },
    clientErrorHandler: refuse,
  });
  // An unknown expectation may be ignored (RFC 9110 §10.1.1). Node would answer 417 without a body.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  leavePermissionToRoutes(app.server);
  // Node would close the connection without an answer.
  app.server.on("connect", (_request, socket) => {
    socket.on("error", () => {});
    // Node has detached the socket: we drop what follows, and pass "drain" on to the answers before it.
    socket.resume().on("drain", () => (socket as AnsweringSocket)._httpMessage?.emit("drain"));
    refuse(Object.assign(new Error("a tunnel"), { code: connectCode }), socket as Socket);
  });
  const connections = new Connections({
    resource,
    connectionsMax: config.CONNECTIONS_MAX,
    pipelineMax: config.PIPELINE_MAX,
    writeStallMs: config.WRITE_STALL_MS,
    keyless:
      options.keyless === undefined
        ? null
        : new KeylessGate({
            perSecondMax: config.KEYLESS_PER_SECOND_MAX,
            ...options.keyless,
            isPreflight: cors.isPreflight,
            clientAddress: ({ headers, socket }) => clientAddress(headers, socket.remoteAddress ?? "", trust),
          }),
    refusals: options.keyless === undefined ? null : new RefusalGate(config.REFUSALS_PER_SECOND_MAX),
    turns: options.turns,
    bucketOf: options.bucketOf,
    isShared: (peer) => isTrustedPeer(peer, trust),
    errorDocsBase: config.ERROR_DOCS_BASE,
    fixedHeaders,
    cors,
    metrics,
    log,
    clock,
  });
  connections.watch(app.server);
  app.decorate("connections", connections);
  app.addHook("onSend", ({ raw }, reply, payload, done) => {
    const bytes = typeof payload === "string" || payload instanceof Uint8Array ? payload.length : 0;
    const turn = connections.turnToAnswer(raw, reply.raw, bytes);
    if (turn === null) done(null, payload);
    else void turn.then(() => done(null, payload));
  });
  installProblems(app, problems);
  installObserver(app, log, metrics);
  installRequestContext(app, { urlBytesMax: config.URL_BYTES_MAX, trust, log, fixedHeaders, cors, isStopping });
  return app;
}
