/** Cross-origin requests from browsers (Fetch, "CORS protocol"), to the origins that are configured; by default none. */

import { limitHeaderNames, headers as names } from "@netfacts/contracts";
import type { FastifyInstance } from "fastify";

/** `*`: any origin; else exactly these. */
export type CorsOrigins = "*" | readonly string[];

/** How long browsers may keep the answer to a preflight; they bound it themselves. */
const preflightSeconds = 7_200;

const allowedMethods = "GET, HEAD, POST";
const allowedHeaders =
  "Authorization, Accept, Content-Type, Content-Encoding, If-None-Match, If-Modified-Since, If-Match, If-Unmodified-Since, X-Request-Id";

/** What scripts may read of an answer besides what any answer shows them. */
const exposedHeaders = [
  names.requestId,
  ...limitHeaderNames,
  names.retryAfter,
  names.authenticate,
  "etag",
  "link",
  "deprecation",
  "sunset",
  "server-timing",
].join(", ");

/** Never with credentials: a key travels in a header that the script sets, and no cookie means anything here. */
export function installCors(app: FastifyInstance, origins: CorsOrigins): void {
  if (origins !== "*" && origins.length === 0) return;
  app.addHook("onRequest", (request, reply, done) => {
    const { origin } = request.headers;
    if (origin === undefined || !isAllowed(origins, origin)) return done();
    const allowed = origins === "*" ? "*" : origin;
    reply.headers({
      "access-control-allow-origin": allowed,
      "access-control-expose-headers": exposedHeaders,
      "timing-allow-origin": allowed,
    });
    // A preflight carries no key, and is no request of its own.
    if (request.method !== "OPTIONS" || request.headers["access-control-request-method"] === undefined) return done();
    reply
      .code(204)
      .headers({
        "access-control-allow-methods": allowedMethods,
        "access-control-allow-headers": allowedHeaders,
        "access-control-max-age": `${preflightSeconds}`,
        vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
      })
      .send();
  });
  if (origins === "*") return;
  // Whoever is told nothing is told so because of the origin, too.
  app.addHook("onSend", (_request, reply, payload, done) => {
    const vary = String(reply.getHeader("vary") ?? "");
    if (!/\borigin\b/i.test(vary)) reply.header("vary", vary === "" ? "Origin" : `${vary}, Origin`);
    done(null, payload);
  });
}

function isAllowed(origins: CorsOrigins, origin: string): boolean {
  return origins === "*" || origins.includes(origin);
}
