/** A listener, public or for operators: Fastify with our bounds, ids and problems in place of its own, and what every request passes first. */

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

/** With the response that is being written to it. */
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
  /** What bounds requests without a valid key; absent: neither those nor refused requests of a key are bounded. */
  readonly keyless?: Pick<KeylessOptions, "isStrained" | "isKnownKey">;
}

/** How often Node looks for connections that are past their time: often enough to keep the bound within a fifth of it. */
const timeoutCheckMs = (boundMs: number) => Math.min(5_000, Math.ceil(boundMs / 5));

/**
 * Makes a listener without routes: it answers problems, keeps a log, and knows of each request its id and its client.
 *
 * @param corsOrigins whose scripts may call.
 * @param resource    what its connections are called in metrics and log lines.
 */
export function createListener(options: ListenerOptions, corsOrigins: CorsOrigins, resource: string): FastifyInstance {
  const { config, clock, log, metrics, problems, isStopping } = options;
  const trust = proxyTrust(config.TRUSTED_PROXIES, config.FORWARDING_HEADER);
  const { fixedHeaders } = problems;
  const cors = createCors(corsOrigins);
  const observe = requestObserver(log, metrics);
  const refuse = clientErrorHandler(problems);
  const app = Fastify({
    logger: false,
    // `trusted-proxies.ts` reads the address of the client.
    trustProxy: false,
    requestIdHeader: false,
    genReqId: ({ headers }) => requestIdOf(headers["x-request-id"], clock.now()),
    // GET routes answer HEAD themselves; while stopping we refuse in our own form.
    exposeHeadRoutes: false,
    return503OnClosing: false,
    // A batch or an upload may go on for hours: `installBodyTime` and `endIdleConnections` bound what does not.
    requestTimeout: 0,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT_MS,
    http: {
      maxHeaderSize: config.HEADER_BYTES_MAX,
      headersTimeout: config.HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: timeoutCheckMs(config.HEADERS_TIMEOUT_MS),
      // A missing Host is refused by us, as a problem.
      requireHostHeader: false,
    },
    routerOptions: {
      // Never the bound: the length of a URL is ours to judge.
      maxParamLength: config.HEADER_BYTES_MAX,
      // Query values are read by our own code, which sees repetitions.
      querystringParser: () => ({}),
    },
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: true } },
    frameworkErrors(error, request, reply) {
      // No hook runs for these: what hooks do is done here.
      request.clientAddress = clientAddress(request.headers, request.socket.remoteAddress ?? "", trust);
      reply.headers(fixedHeaders).header("x-request-id", request.id);
      request.keyDisplay = null;
      reply.raw.once("close", () => observe(request, reply));
      if (cors.allow(request, reply)) return;
      cors.vary(reply);
      const isTooLong = request.url.length > config.URL_BYTES_MAX;
      sendProblem(frameworkProblem(isTooLong ? { code: "FST_ERR_MAX_PARAM_LENGTH" } : error), request, reply, problems);
    },
    clientErrorHandler: refuse,
  });
  // An expectation that we do not know may be ignored (RFC 9110 §10.1.1); Node would answer a bare 417.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  leavePermissionToRoutes(app.server);
  // Node would close such a connection without a word.
  app.server.on("connect", (_request, socket) => {
    socket.on("error", () => {});
    // Node is done with it: what follows is read and dropped, and answers before it still have to know when to go on.
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
            clientAddress: ({ headers, socket }) => clientAddress(headers, socket.remoteAddress ?? "", trust),
          }),
    refusals: options.keyless === undefined ? null : new RefusalGate(config.REFUSALS_PER_SECOND_MAX),
    turns: options.turns,
    bucketOf: options.bucketOf,
    isShared: (peer) => isTrustedPeer(peer, trust),
    errorDocsBase: config.ERROR_DOCS_BASE,
    fixedHeaders,
    metrics,
    log,
    clock,
  });
  connections.watch(app.server);
  app.decorate("connections", connections);
  app.addHook("onSend", ({ raw }, reply, payload, done) => {
    const turn = connections.turnToAnswer(raw, reply.raw);
    if (turn === null) done(null, payload);
    else void turn.then(() => done(null, payload));
  });
  installProblems(app, problems);
  installObserver(app, log, metrics);
  installRequestContext(app, { urlBytesMax: config.URL_BYTES_MAX, trust, log, fixedHeaders, cors, isStopping });
  return app;
}
