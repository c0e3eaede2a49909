/** The steps of every request before its route: its id, the address of its client, and the refusals that need no route. */

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
  /** Headers of every answer. */
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

  // Hooks of every request take a callback: a promise would be their most expensive part.
  app.addHook("onRequest", (request, reply, done) => {
    const peer = request.socket.remoteAddress ?? "";
    request.clientAddress = clientAddress(request.headers, peer, trust);
    forwarding.look(request.headers, peer);
    reply.headers(fixedHeaders).header("x-request-id", request.id);
    // Node reads nothing more from a connection after a request for another protocol.
    if (request.headers.upgrade !== undefined) reply.header("connection", "close");
    if (!cors.allow(request, reply)) done(isStopping() ? stoppingProblem() : (faultOf(request, urlBytesMax) ?? undefined));
  });
  if (cors.varies)
    app.addHook("onSend", (_request, reply, payload, done) => {
      cors.vary(reply);
      done(null, payload);
    });
  // Node closes connections that are idle when the stop begins. A connection whose last request is in flight then would stay open for long.
  app.addHook("onResponse", (_request, _reply, done) => {
    if (isStopping()) setImmediate(() => app.server.closeIdleConnections());
    done();
  });
}

const ending = { connection: "close" };

function stoppingProblem(): ProblemError {
  return new ProblemError("shutting_down", { headers: ending });
}

/** The refusal of a request that needs no route; null: none. */
function faultOf({ url, raw, headers }: FastifyRequest, urlBytesMax: number): ProblemError | null {
  if (url.length > urlBytesMax) return new ProblemError("uri_too_long", { detail: `The URL is longer than ${urlBytesMax} bytes.` });
  // It is not certain which host is meant, so later requests on the connection may be meant for another one.
  if (raw.httpVersion === "1.1" && headers.host === undefined)
    return new ProblemError("bad_request", { detail: "The request has no Host header.", headers: ending });
  if (hasTwo(raw.rawHeaders, "host"))
    return new ProblemError("bad_request", { detail: "The request has more than one Host header.", headers: ending });
  if (headers.host !== undefined && !hostForm.test(headers.host))
    return new ProblemError("bad_request", { detail: "The Host header is not a host with an optional port.", headers: ending });
  // It is not certain which caller asks.
  if (headers.authorization !== undefined && hasTwo(raw.rawHeaders, "authorization"))
    return new ProblemError("bad_request", { detail: "The request has more than one Authorization header.", headers: ending });
  // It is not certain how the body is meant.
  if (headers["content-type"] !== undefined && hasTwo(raw.rawHeaders, "content-type"))
    return new ProblemError("bad_request", { detail: "The request has more than one Content-Type header.", headers: ending });
  // Node's parser accepts other codings before the last one, and leaves them to us (RFC 9112 §6.1).
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.toLowerCase() !== "chunked") {
    const detail = "The only supported Transfer-Encoding is chunked. State the compression of a body in Content-Encoding.";
    return new ProblemError("bad_request", { detail, headers: ending });
  }
  const at = url.indexOf("?");
  return at >= 0 && queryHoldsKey(url.slice(at + 1)) ? new ProblemError("key_in_query") : null;
}

/**
 * An optional host and an optional port (RFC 9110 §7.2). There is no comma: no name has one, and proxies join two headers with it.
 */
const hostForm = /^(?:[A-Za-z0-9._~%!$&'()*+;=-]*|\[[0-9A-Fa-f:.]+\])(?::\d{0,5})?$/;

/** RFC 9112 §3.2. Node keeps the first header and drops the others, but a proxy may have used another. @param name in lower case. */
function hasTwo(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const found = rawHeaders[index];
    if (found?.length === name.length && found.toLowerCase() === name) count += 1;
  }
  return count > 1;
}
