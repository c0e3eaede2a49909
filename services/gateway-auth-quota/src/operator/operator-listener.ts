/** The operator listener: a separate port, not the public one, for keys with the scope `admin`. */

import type { ServerResponse } from "node:http";
import { ingestPath, ProblemError } from "@netfacts/contracts";
import { ingestRoutes, operatorDocument } from "@netfacts/contracts/openapi";
import type { FastifyInstance } from "fastify";
import type { GatewayConfig } from "../config.ts";
import { operatorConsoleRoutes } from "../console/console-routes.ts";
import { docsRoutes, referenceAtRoot } from "../docs/docs-routes.ts";
import { clearBodyTime, installBodyTime } from "../edge/body-time.ts";
import type { Guard } from "../edge/guard.ts";
import { createListener, type ListenerOptions } from "../edge/listener.ts";
import { clientErrorHandler, type ProblemOptions, refusalWriter } from "../edge/problems.ts";
import { outliveRefusedBodies } from "../edge/refused-bodies.ts";
import { installRoutes, onlyForPeople, refuseOtherMethods } from "../edge/routes.ts";
import { installIngestProxy } from "../proxy/ingest-proxy.ts";
import { type AdminHandlers, addPathMethods, installAdminRoutes } from "./admin-routes.ts";
import { refuseConditions, refuseIdempotencyKey } from "./refused-headers.ts";
import { pathMeant, refuseSlashAtEnd } from "./slash-at-end.ts";

export interface OperatorListenerOptions extends ListenerOptions {
  readonly guard: Guard;
  /** Handlers of the gateway's own routes. */
  readonly handlers: AdminHandlers;
}

/** Longest time that a stop waits for an upload, which may last for hours. */
const stopMsMax = 5_000;

/** Wires the listener, but does not make it listen. */
export function createOperatorListener({ guard, handlers, ...options }: OperatorListenerOptions): FastifyInstance {
  const { config, problems } = options;
  // An upload may take any time, and ends only if no bytes arrive (`endIdleConnections`). Other bodies have a time limit.
  const app = createListener(options, [], "operator_connections");
  endIdleConnections(app, config, problems);
  app.addHook("preClose", (done) => {
    setTimeout(() => app.server.closeAllConnections(), stopMsMax).unref();
    done();
  });
  app.decorateRequest("keyId", null);
  outliveRefusedBodies(app);
  const pages = config.CONSOLE ? operatorConsoleRoutes((page) => onlyForPeople(page, guard, pathMeant)) : [];
  const docs = docsRoutes("Netfacts operator API", "/docs/api/operator-routes", () =>
    operatorDocument({ ingest: config.INGEST_URL !== "" }),
  );
  installRoutes(app, [...(pages.length > 0 ? pages : [referenceAtRoot]), ...docs], guard, pathMeant);
  installAdminRoutes(app, handlers, { guard, problems, bodyMsMax: config.REQUEST_TIMEOUT_MS });
  if (config.INGEST_URL !== "") {
    addPathMethods(app, ingestRoutes);
    app.register(async (scope) => {
      refuseOtherMethods(scope, guard);
      installBodyTime(scope, config.REQUEST_TIMEOUT_MS, problems);
      // Before any part of the body is read.
      scope.addHook("onRequest", async (request, reply) => {
        if (isUpload(request.raw.url ?? "")) clearBodyTime(request);
        const pass = await guard.admit(request, reply, "admin", 0);
        pass.settle(false);
        request.keyId = pass.key.id;
        refuseOddPath(request.raw.url ?? "");
        refuseSlashAtEnd(request.raw.url ?? "");
        refuseIdempotencyKey(request);
        refuseConditions(request);
      });
      installIngestProxy(scope, {
        url: config.INGEST_URL,
        proxyToken: config.PROXY_TOKEN,
        timeoutMs: config.INGEST_TIMEOUT_MS,
        problems,
      });
    });
  } else {
    tellNoIngest(app, guard);
  }
  return app;
}

/** Answers requests for ingest's routes, which the documentation describes, with the reason why they are unavailable. */
function tellNoIngest(app: FastifyInstance, guard: Guard): void {
  app.all(`${ingestPath}/*`, {
    onRequest: async (request, reply) => {
      (await guard.admit(request, reply, "admin", 0)).settle(false);
      const detail =
        "No ingest service is configured (INGEST_URL). Use `netfacts ingest run` to import and `netfacts ingest sources` to see the state of the sources.";
      throw new ProblemError("route_not_found", { detail });
    },
    handler: async () => undefined,
  });
}

/** Spellings that a proxy and its upstream server may read as different paths: dots, encoded or not, backslashes, encoded slashes. */
const oddPath = /\\|%5c|%2f|%00|\/(?:\.|%2e){1,2}(?:[;/]|$)/i;

/** @throws ProblemError if ingest could read the path as one that the gateway must not offer. */
function refuseOddPath(url: string): void {
  if (!url.startsWith("/")) throw new ProblemError("bad_request", { detail: "The request target must be a path." });
  if (oddPath.test(url.split("?", 1)[0] ?? "")) throw new ProblemError("route_not_found");
}

/** Ingest limits the time of an upload. */
function isUpload(url: string): boolean {
  return url.split("?", 1)[0] === `${ingestPath}/observations`;
}

function endIdleConnections({ server }: FastifyInstance, config: GatewayConfig, problems: ProblemOptions): void {
  server.keepAliveTimeout = Math.min(config.KEEP_ALIVE_TIMEOUT_MS, config.OPERATOR_IDLE_MS);
  server.setTimeout(config.OPERATOR_IDLE_MS);
  const write = refusalWriter(problems);
  const refuse = clientErrorHandler(problems);
  const code = "ERR_HTTP_REQUEST_TIMEOUT";
  server.on("timeout", (socket) => {
    const current = (socket as typeof socket & { readonly _httpMessage?: ServerResponse | null })._httpMessage;
    // The client does not read the answer that has begun, or the answer has stopped.
    if (current?.headersSent !== false) socket.destroy();
    // `refuse` would wait for the answer to a complete request, beyond the time limit.
    else if (current.req.complete) write(code, socket);
    else refuse(Object.assign(new Error("idle"), { code }), socket);
  });
}
