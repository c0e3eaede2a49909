/** Cross-origin requests from browsers (Fetch, "CORS protocol"), for the configured origins; by default none. */

import type { IncomingMessage } from "node:http";
import { limitHeaderNames, headers as names } from "@netfacts/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";

/** `*`: any origin; else exactly these. */
export type CorsOrigins = "*" | readonly string[];

/** Time that browsers may keep the answer to a preflight; they have a maximum of their own. */
const preflightSeconds = 7_200;

const allowedMethods = "GET, HEAD, POST";
const allowedHeaders =
  "Authorization, Accept, Content-Type, Content-Encoding, If-None-Match, If-Modified-Since, If-Match, If-Unmodified-Since, X-Request-Id";

/** Headers that scripts may read besides those that they may always read. */
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

/** Credentials are never allowed: the script sets the header that has the key, and no cookie is read. */
export interface Cors {
  /**
   * Adds the headers that let the origin of a request read the answer. Answers a preflight of that origin, which has no key and is not a
   * request of its own.
   *
   * @returns whether the request was a preflight, and is answered.
   */
  allow(request: FastifyRequest, reply: FastifyReply): boolean;
  /** Whether this is a preflight of an origin that may read. */
  isPreflight(request: Pick<IncomingMessage, "method" | "headers">): boolean;
  /** The headers of a refusal that no route writes, for a request of this origin; undefined: it has none. */
  ofRefusal(origin: string | undefined): Readonly<Record<string, string>>;
  /** As `ofRefusal`, for a request that could not be read. An origin is named only if it is the only one that may read. */
  readonly ofUnreadable: Readonly<Record<string, string>>;
  /** Whether answers depend on the origin of the request. */
  readonly varies: boolean;
  /** Adds `Origin` to `Vary` if answers depend on the origin. */
  vary(reply: FastifyReply): void;
}

export function createCors(origins: CorsOrigins): Cors {
  const varies = origins !== "*" && origins.length > 0;
  /** Null: the origin may not read. */
  const readableBy = (origin: string | undefined) => {
    if (origin === undefined || !isAllowed(origins, origin)) return null;
    const allowed = origins === "*" ? "*" : origin;
    return { "access-control-allow-origin": allowed, "access-control-expose-headers": exposedHeaders, "timing-allow-origin": allowed };
  };
  const ofRefusal = (origin: string | undefined) => ({ ...readableBy(origin), ...(varies ? { vary: "Origin" } : {}) });
  const only = origins === "*" || origins.length === 1 ? origins[0] : undefined;
  return {
    varies,
    ofRefusal,
    ofUnreadable: ofRefusal(only),
    isPreflight: (request) => hasPreflightForm(request) && readableBy(request.headers.origin) !== null,
    allow(request, reply) {
      const readable = readableBy(request.headers.origin);
      if (readable === null) return false;
      reply.headers(readable);
      if (!hasPreflightForm(request)) return false;
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
      // Answers without CORS headers depend on the origin too.
      const vary = String(reply.getHeader("vary") ?? "");
      if (!/\borigin\b/i.test(vary)) reply.header("vary", vary === "" ? "Origin" : `${vary}, Origin`);
    },
  };
}

function hasPreflightForm({ method, headers }: Pick<IncomingMessage, "method" | "headers">): boolean {
  return method === "OPTIONS" && headers["access-control-request-method"] !== undefined;
}

function isAllowed(origins: CorsOrigins, origin: string): boolean {
  return origins === "*" || origins.includes(origin);
}
