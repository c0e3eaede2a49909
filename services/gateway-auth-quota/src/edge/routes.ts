/** The routes by path: handlers of GET and HEAD, and the refusal of every other method and path. */

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
    /** The path's pattern if the path has routes but none for the method; else null. */
    refusedPath: string | null;
  }
  interface FastifyContextConfig {
    /** The route in metrics and logs, if its URL has another form. */
    documentedPath?: string;
  }
}

/** CONNECT never reaches a router. */
const methods = METHODS.filter((method) => method !== "CONNECT");

/** A route whose handler makes the whole answer. */
export interface Route {
  readonly url: string;
  /** The pattern in metrics and logs, if it is not `url`. */
  readonly documentedPath?: string;
  readonly handler: RouteHandlerMethod;
}

/** @param meantBy  returns the path of the route that a request without a route probably meant; null: unknown. */
export function installRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  guard: Guard,
  meantBy: (url: string) => string | null = () => null,
): void {
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.decorate("pathMethods", new PathMethods());
  app.decorateRequest("refusedPath", null);

  for (const { url, documentedPath = url, handler } of routes) {
    const method = ["GET", "HEAD"];
    app.route({ method, url, handler, config: { documentedPath } });
    app.pathMethods.add(url, method, documentedPath);
  }

  // Refuse here, before the framework judges the body, or the lack of one.
  app.addHook("onRequest", (request, reply, done) => {
    if (!request.is404) return done();
    const fault = app.pathMethods.faultOf(request) ?? noRoute(meantBy(request.url));
    guard.admitToNothing(request, reply).then(() => done(fault), done);
  });
  app.setNotFoundHandler(unreachable);
}

/**
 * Answers for a page for people. A program that takes the page's path for a route of the API is refused as at a path without a route: a page
 * with status 200 would look like success. A program sends a key or names JSON in `Accept`, and does not name HTML, as every browser does.
 *
 * @param meantBy  as for `installRoutes`.
 */
export function onlyForPeople(page: RouteHandlerMethod, guard: Guard, meantBy: (url: string) => string | null): RouteHandlerMethod {
  return async function (request, reply) {
    const { accept = "", authorization } = request.headers;
    const isProgram = !/html/i.test(accept) && (authorization !== undefined || /json/i.test(accept));
    if (!isProgram) return page.call(this, request, reply);
    await guard.admitToNothing(request, reply);
    throw noRoute(meantBy(request.url));
  };
}

/** For an instance whose routes accept any method: refuses methods that `pathMethods` does not list, before hooks that are added later run. */
export function refuseOtherMethods(app: FastifyInstance, guard: Guard): void {
  app.addHook("onRequest", async (request, reply) => {
    const fault = app.pathMethods.faultOf(request);
    if (fault === null) return;
    await guard.admitToNothing(request, reply);
    throw fault;
  });
}

/**
 * The methods that each path has, in a separate router with one route for each path. In the framework's router, 60 paths would need 2,000
 * routes for the methods that they do not have, which cost 30 ms and 2.5 MiB.
 */
class PathMethods {
  /** `maxParamLength` is never reached: the length of a URL is limited before. */
  readonly #router = findMyWay({ maxParamLength: Number.MAX_SAFE_INTEGER, querystringParser: () => ({}) });

  /**
   * @param url             pattern in Fastify's form; add each once.
   * @param documentedPath  as in `Route`.
   */
  add(url: string, allowed: readonly string[], documentedPath = url): void {
    this.#router.on("GET", url, unreachable, { documentedPath, allowed });
  }

  /** The refusal of the request's method, also noting the path in the request; null: the path has this method, or is unknown. */
  faultOf(request: FastifyRequest): ProblemError | null {
    const store: { readonly documentedPath: string; readonly allowed: readonly string[] } | undefined = this.#router.find(
      "GET",
      request.url,
    )?.store;
    if (store === undefined || store.allowed.includes(request.method)) return null;
    request.refusedPath = store.documentedPath;
    const detail = `This route supports ${wordList(store.allowed, "and")}.`;
    return new ProblemError("method_not_allowed", { detail, headers: { allow: store.allowed.join(", ") } });
  }
}

/** @param suggestion  path of the route that was meant; null: unknown. */
export function noRoute(suggestion: string | null): ProblemError {
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
