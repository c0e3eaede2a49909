/** Cross-origin requests from browsers (Fetch, "CORS protocol"), to the origins that are configured; by default none. */

import { limitHeaderNames, headers as names } from "@netfacts/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";

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
export interface Cors {
  /**
   * Adds to an answer that its origin may read it, and answers a preflight of that origin: it carries no key, and is no request of its own.
   *
   * @returns whether it was answered.
   */
  allow(request: FastifyRequest, reply: FastifyReply): boolean;
  /** Whether what an answer says depends on its origin. */
  readonly varies: boolean;
  /** Adds to an answer that it depends on its origin, where it does. */
  vary(reply: FastifyReply): void;
}

export function createCors(origins: CorsOrigins): Cors {
  const varies = origins !== "*" && origins.length > 0;
  return {
    varies,
    allow({ method, headers }, reply) {
      const { origin } = headers;
      if (origin === undefined || !isAllowed(origins, origin)) return false;
      const allowed = origins === "*" ? "*" : origin;
      reply.headers({
        "access-control-allow-origin": allowed,
        "access-control-expose-headers": exposedHeaders,
        "timing-allow-origin": allowed,
      });
      if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined) return false;
      const preflight = {
        "access-control-allow-methods": allowedMethods,
        "access-control-allow-headers": allowedHeaders,
        "access-control-max-age": `${preflightSeconds}`,
        vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
      };
      reply.code(204).headers(preflight).send();
      return true;
    },
    vary(reply) {
      if (!varies) return;
      // Whoever is told nothing is told so because of the origin, too.
      const vary = String(reply.getHeader("vary") ?? "");
      if (!/\borigin\b/i.test(vary)) reply.header("vary", vary === "" ? "Origin" : `${vary}, Origin`);
    },
  };
}

function isAllowed(origins: CorsOrigins, origin: string): boolean {
  return origins === "*" || origins.includes(origin);
}
