/** The operators' listener: a port of its own, for keys with the scope `admin`, off the public one. */

import { Readable } from "node:stream";
import { ProblemError } from "@netfacts/contracts";
import type { FastifyInstance } from "fastify";
import type { GatewayConfig } from "../config.ts";
import type { Guard } from "../http/guard.ts";
import { createServer, type ServerOptions } from "../http/server.ts";
import { installObserver } from "../plugins/observe.ts";
import { clientErrorHandler, installProblems, type ProblemOptions } from "../plugins/problems.ts";
import { installRequestContext } from "../plugins/request-context.ts";
import { installRoutes } from "../plugins/routes.ts";
import { installIngestProxy } from "../proxy/ingest-proxy.ts";
import { discardBody } from "../proxy/request-body.ts";

export interface OperatorListenerOptions extends Omit<ServerOptions, "requestTimeoutMs"> {
  readonly guard: Guard;
  readonly isStopping: () => boolean;
}

/** An upload may go on for hours; a stop waits for it no longer than this. */
const stopMsMax = 5_000;

/** Wires the listener; it does not listen yet. */
export function createOperatorListener({ guard, isStopping, ...options }: OperatorListenerOptions): FastifyInstance {
  const { config, log, metrics, problems } = options;
  // No bound in total: what ends an upload is silence.
  const app = createServer({ ...options, requestTimeoutMs: 0 });
  endIdleConnections(app, config, problems);
  app.addHook("preClose", (done) => {
    setTimeout(() => app.server.closeAllConnections(), stopMsMax).unref();
    done();
  });
  installProblems(app, problems);
  installObserver(app, log, metrics);
  installRequestContext(app, { urlBytesMax: config.URL_BYTES_MAX, isStopping });
  app.decorateRequest("keyId", null);
  outliveRefusedBodies(app);
  installRoutes(app, [], guard);
  if (config.INGEST_URL !== "") {
    app.register(async (scope) => {
      // Before anything of the body is read.
      scope.addHook("onRequest", async (request, reply) => {
        const pass = await guard.admit(request, reply, "admin", 0);
        pass.settle(false);
        request.keyId = pass.key.id;
        // What it would come to is a path of ingest that is not ours to offer.
        if (/(^|\/)\.\.?(\/|$)/.test((request.params as { readonly "*"?: string })["*"] ?? "")) throw new ProblemError("route_not_found");
      });
      installIngestProxy(scope, {
        url: config.INGEST_URL,
        proxyToken: config.PROXY_TOKEN,
        timeoutMs: config.INGEST_TIMEOUT_MS,
        problems,
      });
    });
  }
  return app;
}

function endIdleConnections({ server }: FastifyInstance, config: GatewayConfig, problems: ProblemOptions): void {
  server.keepAliveTimeout = Math.min(config.KEEP_ALIVE_TIMEOUT_MS, config.OPERATOR_IDLE_MS);
  server.setTimeout(config.OPERATOR_IDLE_MS);
  const refuse = clientErrorHandler(problems);
  server.on("timeout", (socket) => {
    const isWaitedFor = (socket as typeof socket & { readonly _httpMessage?: object | null })._httpMessage;
    if (isWaitedFor) refuse(Object.assign(new Error("idle"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
    else socket.destroy();
  });
  // Ours to answer, once the key was checked: who waits for it sends nothing to be refused.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
}

/** An answer that came before the end of a body: sent at once, and the connection held until some of the rest was thrown away. */
function outliveRefusedBodies(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const { raw, headers } = request;
    const hasRest = !raw.complete && (headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0");
    // Who waited for permission to send has sent nothing.
    const isWaiting = headers.expect !== undefined && request.keyId === null;
    if (!hasRest || isWaiting || !(typeof payload === "string" || payload instanceof Readable)) return payload;
    if (typeof payload === "string") reply.header("content-length", Buffer.byteLength(payload));
    reply.header("connection", "close");
    return Readable.from(thenDiscard(payload, raw), { objectMode: false });
  });
}

async function* thenDiscard(payload: string | Readable, request: Parameters<typeof discardBody>[0]) {
  if (typeof payload === "string") yield payload;
  else yield* payload;
  await discardBody(request);
}
