/** The routes by path: what answers GET and HEAD, and the refusal of every other method and path. */

import { METHODS } from "node:http";
import { ProblemError } from "@netfacts/contracts";
import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import type { Guard } from "../http/guard.ts";

/** CONNECT never reaches a router. */
const otherMethods = METHODS.filter((method) => method !== "GET" && method !== "HEAD" && method !== "CONNECT");

/** A route whose whole answer is its handler's. */
export interface Route {
  readonly url: string;
  readonly handler: RouteHandlerMethod;
}

export function installRoutes(app: FastifyInstance, routes: readonly Route[], guard: Guard): void {
  for (const method of otherMethods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  for (const { url, handler } of routes) {
    app.route({ method: ["GET", "HEAD"], url, handler });
    app.route({
      method: otherMethods,
      url,
      // Before the body is read, let alone parsed.
      onRequest: async (request, reply) => {
        await guard.admitToNothing(request, reply);
        throw new ProblemError("method_not_allowed", { detail: "This route answers GET and HEAD.", headers: { allow: "GET, HEAD" } });
      },
      handler: unreachable,
    });
  }

  app.setNotFoundHandler({ preValidation: [] }, async (request, reply) => {
    await guard.admitToNothing(request, reply);
    throw new ProblemError("route_not_found");
  });
}

async function unreachable(): Promise<never> {
  throw new Error("the hook before this handler refuses every request");
}
