/** The routes by path: what answers GET and HEAD, and the refusal of every other method and path. */

import { METHODS } from "node:http";
import { ProblemError } from "@netfacts/contracts";
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from "fastify";
import findMyWay from "find-my-way";
import type { Guard } from "./guard.ts";
import { wordList } from "./word-list.ts";

declare module "fastify" {
  interface FastifyInstance {
    readonly pathMethods: PathMethods;
  }
  interface FastifyRequest {
    /** The path's pattern, when the path has routes but none for the method; else null. */
    refusedPath: string | null;
  }
}

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
  app.decorate("pathMethods", new PathMethods());
  app.decorateRequest("refusedPath", null);

  for (const { url, handler } of routes) {
    const method = ["GET", "HEAD"];
    app.route({ method, url, handler });
    app.pathMethods.add(url, method);
  }

  // Before the framework judges a body, or the lack of one, that no route takes.
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) return done();
    const fault = app.pathMethods.faultOf(request) ?? noRoute(meantBy(request.url));
    guard.admitToNothing(request, reply).then(() => done(fault), done);
  });
  app.setNotFoundHandler(unreachable);
}

/** For an instance whose routes take any method: refuses those that `pathMethods` does not list, before hooks that are added later. */
export function refuseOtherMethods(app: FastifyInstance, guard: Guard): void {
  app.addHook("onRequest", async (request, reply) => {
    const fault = app.pathMethods.faultOf(request);
    if (fault === null) return;
    await guard.admitToNothing(request, reply);
    throw fault;
  });
}

/**
 * The methods that each path has, in a router of its own with one route for each path. In the framework's router, 60 paths would need
 * 2,000 routes for the methods that they do not have, which take 30 ms and 2.5 MiB.
 */
class PathMethods {
  /** Never a bound: the length of a URL is judged before. */
  readonly #router = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER, querystringParser: () => ({}) });

  /** @param url  as Fastify writes it, each once. */
  add(url: string, allowed: readonly string[]): void {
    this.#router.on("GET", url, unreachable, { url, allowed });
  }

  /** The refusal of the request's method, after noting the path in the request; null: the path has this method, or is not known. */
  faultOf(request: FastifyRequest): ProblemError | null {
    const store: { readonly url: string; readonly allowed: readonly string[] } | undefined = this.#router.find("GET", request.url)?.store;
    if (store === undefined || store.allowed.includes(request.method)) return null;
    request.refusedPath = store.url;
    const detail = `This route supports ${wordList(store.allowed, "and")}.`;
    return new ProblemError("method_not_allowed", { detail, headers: { allow: store.allowed.join(", ") } });
  }
}

function noRoute(suggestion: string | null): ProblemError {
  if (suggestion === null)
    return new ProblemError("route_not_found", { detail: "There is no route at this path; /docs/reference lists the routes." });
  const message = "there is no route at this path";
  return new ProblemError("route_not_found", {
    detail: `There is no route at this path; there is one at ${suggestion}.`,
    errors: [{ location: "path", code: "route_not_found", message, suggestion }],
  });
}

async function unreachable(): Promise<never> {
  throw new Error("the hook before this handler refuses every request");
}
