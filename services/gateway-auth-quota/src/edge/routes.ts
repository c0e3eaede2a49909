/** The routes by path: what answers GET and HEAD, and the refusal of every other method and path. */

import { METHODS } from "node:http";
import { ProblemError } from "@netfacts/contracts";
import type { FastifyInstance, RouteHandlerMethod } from "fastify";
import type { Guard } from "./guard.ts";
import { wordList } from "./word-list.ts";

/** CONNECT never reaches a router. */
const methods = METHODS.filter((method) => method !== "CONNECT");

/** A route whose whole answer is its handler's. */
export interface Route {
  readonly url: string;
  readonly handler: RouteHandlerMethod;
}

/** @param meantBy  the path of the route that a request for no route was meant for; null where that is not known. */
export function installRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  guard: Guard,
  meantBy: (url: string) => string | null = () => null,
): void {
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  for (const { url, handler } of routes) {
    app.route({ method: ["GET", "HEAD"], url, handler });
    refuseOtherMethods(app, url, ["GET", "HEAD"], guard);
  }

  // Before the framework judges a body, or the lack of one, that no route takes.
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) return done();
    guard.admitToNothing(request, reply).then(() => done(noRoute(meantBy(request.url))), done);
  });
  app.setNotFoundHandler(unreachable);
}

function noRoute(suggestion: string | null): ProblemError {
  if (suggestion === null) return new ProblemError("route_not_found");
  const message = "there is no route at this path";
  return new ProblemError("route_not_found", {
    detail: `There is no route at this path; there is one at ${suggestion}.`,
    errors: [{ location: "path", code: "route_not_found", message, suggestion }],
  });
}

/** Of a route that has handlers for these methods; after `installRoutes`, which makes every method known. */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: readonly string[], guard: Guard): void {
  app.route({
    method: methods.filter((method) => !allowed.includes(method)),
    url,
    // Before the body is read, let alone parsed.
    onRequest: async (request, reply) => {
      await guard.admitToNothing(request, reply);
      const detail = `This route supports ${wordList(allowed, "and")}.`;
      throw new ProblemError("method_not_allowed", { detail, headers: { allow: allowed.join(", ") } });
    },
    handler: unreachable,
  });
}

async function unreachable(): Promise<never> {
  throw new Error("the hook before this handler refuses every request");
}
