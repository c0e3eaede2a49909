/** `/flags/{cc}.svg`: flags of countries, without a key, and cached for ever. */

import { hash } from "node:crypto";
import { ProblemError } from "@netfacts/contracts";
import * as flags from "country-flag-icons/string/3x2";
import type { RouteHandlerMethod } from "fastify";
import { matchesEtag } from "../lookups/conditional.ts";

interface Flag {
  readonly svg: string;
  readonly etag: string;
}

/** Lower-case country code → flag. Codes of parts of countries (`GB_ENG`) are left out: no record names them. */
const flagsByCode: ReadonlyMap<string, Flag> = new Map(
  Object.entries(flags)
    .filter(([code]) => /^[A-Z]{2}$/.test(code))
    .map(([code, svg]) => [code.toLowerCase(), { svg, etag: `"${hash("sha256", svg, "base64url").slice(0, 22)}"` }]),
);

export function flagHandler(): RouteHandlerMethod {
  return async (request, reply) => {
    const { country } = request.params as { country: string };
    const flag = flagsByCode.get(country);
    if (flag === undefined)
      throw new ProblemError("route_not_found", { detail: "There is no flag for this code. Codes are ISO 3166-1 alpha-2 in lower case." });
    reply.headers({ "cache-control": "public, max-age=31536000, immutable", etag: flag.etag });
    if (matchesEtag(request.headers["if-none-match"], flag.etag)) return reply.code(304).send();
    return reply
      .headers({
        "content-type": "image/svg+xml",
        // A browser opens an SVG as a document, which must not run or load anything.
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        "x-content-type-options": "nosniff",
      })
      .send(flag.svg);
  };
}
