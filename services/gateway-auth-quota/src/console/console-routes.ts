/** The console: one HTML page for every path of its pages, and the files that it loads, whose names follow from their content. */

import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import type { RouteHandlerMethod } from "fastify";
import { preferredCoding } from "../edge/accept.ts";
import type { Route } from "../edge/routes.ts";
import { matchesEtag } from "../lookups/conditional.ts";

/** Written by scripts/console.ts. */
const site = new URL("../../../console/dist/site/", import.meta.url);

/** Paths of pages; what follows is read by the page. */
const pagePaths = [
  "/",
  "/address/*",
  "/prefix/*",
  "/as/*",
  "/validity",
  "/validity/*",
  "/reverse-dns/*",
  "/compare",
  "/compare/*",
  "/bulk",
  "/search",
  "/data",
  "/key",
];

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

/** Scripts, styles and requests of this origin only: nothing inline, and no frame. */
const pagePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const filePolicy = "default-src 'none'; frame-ancestors 'none'";

const pageHeaders = { "cache-control": "no-cache", "content-security-policy": pagePolicy };
const fileHeaders = { "cache-control": "public, max-age=31536000, immutable", "content-security-policy": filePolicy };

/** Reads the files; empty where the console is not built. */
export function consoleRoutes(): Route[] {
  if (!existsSync(new URL("index.html", site))) return [];
  const page = packedHandler("index.html", pageHeaders);
  const names = readdirSync(site).filter((name) => name !== "index.html" && contentTypes[extname(name)] !== undefined);
  return [
    ...pagePaths.map((url) => ({ url, handler: page })),
    ...names.map((name) => ({ url: `/console/${name}`, handler: packedHandler(name, fileHeaders) })),
  ];
}

/** Sends a file in the coding that the caller prefers, packed when the console was built. */
function packedHandler(name: string, headers: Readonly<Record<string, string>>): RouteHandlerMethod {
  const bodies = {
    identity: readFileSync(new URL(name, site)),
    br: readFileSync(new URL(`${name}.br`, site)),
    gzip: readFileSync(new URL(`${name}.gz`, site)),
  };
  // Weak: the same for each coding.
  const etag = `W/"${hash("sha256", bodies.identity, "base64url").slice(0, 22)}"`;
  return async (request, reply) => {
    reply.headers({ ...headers, vary: "Accept-Encoding", etag });
    if (matchesEtag(request.headers["if-none-match"], etag)) return reply.code(304).send();
    reply.header("content-type", contentTypes[extname(name)]);
    const coding = preferredCoding(request.headers["accept-encoding"] ?? "", ["br", "gzip"]);
    if (coding !== null) reply.header("content-encoding", coding);
    return reply.send(bodies[coding ?? "identity"]);
  };
}
