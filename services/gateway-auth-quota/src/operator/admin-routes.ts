/** The gateway's own routes for operators, wired from their description: authentication, reading of the request, and answer. */

import { Readable } from "node:stream";
import { contentTypes, ProblemError, type ProblemItem } from "@netfacts/contracts";
import { adminRoutes, type RouteDescription } from "@netfacts/contracts/openapi";
import { IdempotencyConflict, KeySpecError } from "@netfacts/keys";
import { StoreError } from "@netfacts/storage";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { requireJson } from "../edge/accept.ts";
import { permitBody } from "../edge/body-permission.ts";
import { installBodyTime } from "../edge/body-time.ts";
import type { Guard } from "../edge/guard.ts";
import { type ProblemOptions, sendProblem } from "../edge/problems.ts";
import { type AdminCall, faultsProblem, readAdminCall } from "./admin-request.ts";
import { refuseConditions } from "./refused-headers.ts";
import { refuseSlashAtEnd } from "./slash-at-end.ts";

export interface AdminAnswer {
  readonly status: number;
  /** Headers in addition to those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object;
  /** Text that is made while it is sent; instead of a body. */
  readonly text?: { readonly contentType: string; readonly pieces: AsyncGenerator<string, undefined> };
}

/** Handlers by the id of the route. */
export type AdminHandlers = Readonly<Record<string, (call: AdminCall) => Promise<AdminAnswer>>>;

/** Many times the longest useful body. */
const bodyBytesMax = 65_536;

export interface AdminRouteOptions {
  readonly guard: Guard;
  readonly problems: ProblemOptions;
  /** Time for a body to arrive, in ms. */
  readonly bodyMsMax: number;
}

/** @throws Error if a route has no handler, or a handler has no route. */
export function installAdminRoutes(app: FastifyInstance, handlers: AdminHandlers, { guard, problems, bodyMsMax }: AdminRouteOptions): void {
  const unknown = Object.keys(handlers).filter((id) => !adminRoutes.some((route) => route.id === id));
  if (unknown.length > 0) throw new Error(`no such route: ${unknown.join(", ")}`);
  app.register(async (scope) => {
    installBodyTime(scope, bodyMsMax, problems);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: bodyBytesMax }, (_request, body, done) => done(null, body));
    // Before any part of the body is read.
    scope.addHook("onRequest", async (request, reply) => {
      const pass = await guard.admit(request, reply, "admin", 0);
      pass.settle(false);
      request.keyId = pass.key.id;
      refuseSlashAtEnd(request.url);
    });
    scope.addHook("preParsing", (request, reply, _body, done) => {
      // The key is verified, so the client may send its body.
      permitBody(request.raw, reply.raw);
      done();
    });
    scope.setErrorHandler((error, request, reply) => sendProblem(problemOf(error, request), request, reply, problems));
    for (const route of adminRoutes) installRoute(scope, route, handlers);
  });
  addPathMethods(app, adminRoutes);
}

/** Call after `installRoutes`. Other methods of these paths are then refused. */
export function addPathMethods(app: FastifyInstance, routes: readonly RouteDescription[]): void {
  for (const [path, ofPath] of Map.groupBy(routes, ({ path }) => path)) app.pathMethods.add(urlOf(path), ofPath.flatMap(methodsOf));
}

function installRoute(scope: FastifyInstance, route: RouteDescription, handlers: AdminHandlers): void {
  const handler = handlers[route.id];
  if (handler === undefined) throw new Error(`route ${route.id} has no handler`);
  scope.route({
    method: methodsOf(route),
    url: urlOf(route.path),
    async handler(request: FastifyRequest, reply: FastifyReply) {
      // A route with other forms checks `Accept` itself.
      if (route.answers[0].content.length <= 1) requireJson(request);
      const id = request.keyId ?? "";
      const by = { actor: `key:${id}`, address: request.clientAddress, keyId: id };
      const call = readAdminCall(route, request, by);
      refuseConditions(request);
      const { status, headers, body, text } = await handler(call);
      // Make the first piece before the status is sent, so that an unavailable store is reported as a problem.
      const first = await text?.pieces.next();
      reply.code(status).headers({ "cache-control": "no-store", ...headers });
      if (text !== undefined) return reply.header("content-type", text.contentType).send(textStream(first?.value ?? "", text.pieces));
      if (body === undefined) return reply.send();
      return reply.header("content-type", contentTypes.json).send(JSON.stringify(body));
    },
  });
}

function textStream(first: string, rest: AsyncIterable<string>): Readable {
  async function* pieces() {
    yield first;
    yield* rest;
  }
  return Readable.from(pieces(), { objectMode: false });
}

function methodsOf({ method }: RouteDescription): string[] {
  return method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()];
}

/** The form of `/admin/v1/keys/{id}` for Fastify. */
function urlOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/** The problem for an error of a handler, of the store, or of the reading of a body. */
function problemOf(error: unknown, { routeOptions: { url = "" } }: FastifyRequest): unknown {
  if (error instanceof KeySpecError) return specProblem(error, url);
  if (error instanceof IdempotencyConflict) return new ProblemError("idempotency_conflict");
  // The record of a key or a plan is invalid: name the fault, so that the operator can correct it.
  if (error instanceof StoreError && error.fault === "invalid")
    return new ProblemError("internal_error", { cause: error, detail: `The ${error.explanation}. Correct it in the database.` });
  if (error instanceof StoreError) return new ProblemError("upstream_unavailable", { cause: error });
  if ((error as { readonly code?: unknown } | null)?.code === "FST_ERR_CTP_BODY_TOO_LARGE")
    return new ProblemError("payload_too_large", { detail: `The body is longer than ${bodyBytesMax} bytes.` });
  return error;
}

/** @param url  URL of the route, whose path parameters distinguish faults of the path from faults of the body. */
function specProblem({ items }: KeySpecError, url: string): ProblemError {
  const parameters = url.split("/").filter((part) => part.startsWith(":"));
  const isInPath = (field: string): boolean => parameters.includes(`:${field}`);
  const code = items.some(({ field }) => isInPath(field)) ? "invalid_parameter" : "invalid_body";
  const faults = items.map(
    ({ field, message, suggestion }): ProblemItem => ({
      location: `${isInPath(field) ? "path" : "body"}.${field}`,
      code,
      message,
      ...(suggestion !== null && { suggestion }),
    }),
  );
  return faultsProblem(code, faults);
}
