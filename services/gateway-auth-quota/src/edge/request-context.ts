/** What every request has before its route: an id, the client's address; and the refusals that come before any route. */

import { ProblemError } from "@netfacts/contracts";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Cors } from "./cors.ts";
import { queryHoldsKey } from "./echo.ts";
import { ForwardingWatch } from "./forwarding-watch.ts";
import type { RequestLog } from "./observe.ts";
import { clientAddress, type ProxyTrust } from "./trusted-proxies.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** RFC 5952 text of the client's address, after trusted proxies. */
    clientAddress: string;
    /** The display form of the calling key, once it is known; for logs. */
    keyDisplay: string | null;
    /** The code of the problem that answers it; for logs. */
    problemCode: string | null;
  }
}

export interface RequestContextOptions {
  readonly urlBytesMax: number;
  readonly trust: ProxyTrust;
  readonly log: RequestLog;
  /** Of every answer. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
  readonly cors: Cors;
  readonly isStopping: () => boolean;
}

export function installRequestContext(
  app: FastifyInstance,
  { urlBytesMax, trust, log, fixedHeaders, cors, isStopping }: RequestContextOptions,
): void {
  const forwarding = new ForwardingWatch(trust, log);
  app.decorateRequest("clientAddress", "");
  app.decorateRequest("keyDisplay", null);
  app.decorateRequest("problemCode", null);

  // Hooks of every request take a callback: a promise each would be the dearest part of them.
  app.addHook("onRequest", (request, reply, done) => {
    const peer = request.socket.remoteAddress ?? "";
    request.clientAddress = clientAddress(request.headers, peer, trust);
    forwarding.look(request.headers, peer);
    reply.headers(fixedHeaders).header("x-request-id", request.id);
    // Node reads nothing more of a connection on which another protocol was asked for.
    if (request.headers.upgrade !== undefined) reply.header("connection", "close");
    if (!cors.allow(request, reply)) done(isStopping() ? stoppingProblem() : (faultOf(request, urlBytesMax) ?? undefined));
  });
  if (cors.varies)
    app.addHook("onSend", (_request, reply, payload, done) => {
      cors.vary(reply);
      done(null, payload);
    });
  // Connections that were idle when the stop began are closed by Node; one whose last request was in flight would stay open for long.
  app.addHook("onResponse", (_request, _reply, done) => {
    if (isStopping()) setImmediate(() => app.server.closeIdleConnections());
    done();
  });
}

const ending = { connection: "close" };

function stoppingProblem(): ProblemError {
  return new ProblemError("shutting_down", { headers: ending });
}

/** What makes a request one that no route looks at. */
function faultOf({ url, raw, headers }: FastifyRequest, urlBytesMax: number): ProblemError | null {
  if (url.length > urlBytesMax) return new ProblemError("uri_too_long", { detail: `The URL is longer than ${urlBytesMax} bytes.` });
  // Who is asked is not certain, so what follows on the connection may be meant for somebody else.
  if (raw.httpVersion === "1.1" && headers.host === undefined)
    return new ProblemError("bad_request", { detail: "The request has no Host header.", headers: ending });
  if (hasTwo(raw.rawHeaders, "host"))
    return new ProblemError("bad_request", { detail: "The request has more than one Host header.", headers: ending });
  if (headers.host !== undefined && !hostForm.test(headers.host))
    return new ProblemError("bad_request", { detail: "The Host header is not a host with an optional port.", headers: ending });
  // Who asks is not certain either.
  if (headers.authorization !== undefined && hasTwo(raw.rawHeaders, "authorization"))
    return new ProblemError("bad_request", { detail: "The request has more than one Authorization header.", headers: ending });
  const at = url.indexOf("?");
  return at >= 0 && queryHoldsKey(url.slice(at + 1)) ? new ProblemError("key_in_query") : null;
}

/**
 * A host, or none, and a port (RFC 9110 §7.2). Without the comma, which no name has: proxies make one value out of two headers by it.
 */
const hostForm = /^(?:[A-Za-z0-9._~%!$&'()*+;=-]*|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/** RFC 9112 §3.2. Node keeps the first and drops the others, where a proxy may have gone by another. @param name in lower case. */
function hasTwo(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const found = rawHeaders[index];
    if (found?.length === name.length && found.toLowerCase() === name) count += 1;
  }
  return count > 1;
}
