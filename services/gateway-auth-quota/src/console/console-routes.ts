/**
 * The console: one HTML page for the paths of all its pages, and the files that it loads, which are named by their content. The pages for
 * operators are separate files, only for the operator listener.
 */

import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import type { RouteHandlerMethod } from "fastify";
import { preferredCoding } from "../edge/accept.ts";
import { filePolicy, pagePolicy } from "../edge/page-policies.ts";
import { noRoute, type Route } from "../edge/routes.ts";
import { matchesEtag } from "../lookups/conditional.ts";

/** Written by scripts/console.ts. */
const site = new URL("../../../console/dist/site/", import.meta.url);

/** Paths of public pages; the page reads the rest of the path. */
const publicPaths = [
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

/** Paths of the pages for operators. Only `/` is also the path of a public page. */
const operatorPaths = ["/", "/keys", "/keys/*", "/sources", "/runs/*", "/snapshots", "/usage", "/audit", "/plans", "/observations"];

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
};

const pageHeaders = {
  "cache-control": "no-cache",
  "content-security-policy": pagePolicy,
  vary: "Accept, Accept-Encoding, Authorization",
};
const fileHeaders = {
  "cache-control": "public, max-age=31536000, immutable",
  "content-security-policy": filePolicy,
  vary: "Accept-Encoding",
};

/** Wraps the handler of a page, such as to refuse callers that are no browsers. */
export type PageGate = (page: RouteHandlerMethod) => RouteHandlerMethod;

/** Reads the public files; empty if the console is not built. */
export function consoleRoutes(gate: PageGate): Route[] {
  return routesOf(site, "index.html", publicPaths, gate);
}

/** Reads the files for operators; empty if the console is not built. */
export function operatorConsoleRoutes(gate: PageGate): Route[] {
  return routesOf(new URL("operator/", site), "operator.html", operatorPaths, gate);
}

function routesOf(folder: URL, pageName: string, pagePaths: readonly string[], gate: PageGate): Route[] {
  if (!existsSync(new URL(pageName, folder))) return [];
  const page = gate(packedHandler(folder, pageName, pageHeaders));
  const names = readdirSync(folder).filter((name) => name !== pageName && contentTypes[extname(name)] !== undefined);
  const files = new Map(names.map((name) => [name, packedHandler(folder, name, fileHeaders)]));
  return [
    ...pagePaths.flatMap((url) => (mayEndInSlash(url, pagePaths) ? [url, `${url}/`] : [url])).map((url) => ({ url, handler: page })),
    { url: "/console/:file", handler: fileHandler(files) },
  ];
}

/** Whether the path with a slash at its end is the same page, and belongs to no other path. */
function mayEndInSlash(url: string, paths: readonly string[]): boolean {
  return !/[/*]$/.test(url) && !paths.includes(`${url}/*`);
}

/** One route for all files: metrics count by route, and each build of the console has other names. */
function fileHandler(files: ReadonlyMap<string, RouteHandlerMethod>): RouteHandlerMethod {
  return function (request, reply) {
    const found = files.get((request.params as { readonly file: string }).file);
    if (found === undefined) throw noRoute(null);
    return found.call(this, request, reply);
  };
}

/** Sends a file in the coding that the caller prefers. The file was compressed when the console was built. */
function packedHandler(folder: URL, name: string, headers: Readonly<Record<string, string>>): RouteHandlerMethod {
  const bodies = {
    identity: readFileSync(new URL(name, folder)),
    br: readFileSync(new URL(`${name}.br`, folder)),
    gzip: readFileSync(new URL(`${name}.gz`, folder)),
  };
  // Weak, because it is the same for each coding.
  const etag = `W/"${hash("sha256", bodies.identity, "base64url").slice(0, 22)}"`;
  return async (request, reply) => {
    reply.headers({ ...headers, etag });
    if (matchesEtag(request.headers["if-none-match"], etag)) return reply.code(304).send();
    reply.header("content-type", contentTypes[extname(name)]);
    const coding = preferredCoding(request.headers["accept-encoding"] ?? "", ["br", "gzip"]);
    if (coding !== null) reply.header("content-encoding", coding);
    return reply.send(bodies[coding ?? "identity"]);
  };
}
