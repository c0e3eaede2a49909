/** The documentation site below `/docs/`: files that scripts/build-docs.ts wrote, each read at its first request. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { ProblemError } from "@netfacts/contracts";
import type { RouteHandlerMethod } from "fastify";
import { pagePolicy } from "../edge/page-policies.ts";
import type { Route } from "../edge/routes.ts";
import { staticHandler } from "./static-file.ts";

const site = new URL("../../../../docs/dist/", import.meta.url);

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".webp": "image/webp",
};

/** The routes of the site; empty if it is not built. */
export function docsSiteRoutes(): Route[] {
  if (!existsSync(new URL("index.html", site))) return [];
  const handlers = new Map<string, RouteHandlerMethod>();
  for (const path of readdirSync(site, { recursive: true, encoding: "utf8" })) {
    if (extname(path) !== "" && path !== "built.json") handlers.set(urlOf(path), fileHandler(path));
  }
  const handler: RouteHandlerMethod = function (request, reply) {
    const path = (request.params as { readonly "*"?: string })["*"] ?? "";
    const found = handlers.get(path) ?? handlers.get(`${path}/`);
    if (found === undefined) throw new ProblemError("route_not_found", { detail: "The documentation has no such page." });
    return found.call(this, request, reply);
  };
  return ["/docs", "/docs/", "/docs/*"].map((url) => ({ url, handler }));
}

/** `services/ingest/index.html` → `services/ingest/`, `concepts.html` → `concepts`. */
function urlOf(path: string): string {
  return path.replace(/(^|\/)index\.html$/, "$1").replace(/\.html$/, "");
}

function fileHandler(path: string): RouteHandlerMethod {
  const type = extname(path);
  return staticHandler(() => ({
    contentType: contentTypes[type] ?? "text/plain; charset=utf-8",
    ...(type === ".html" && { contentSecurityPolicy: pagePolicy }),
    body: readFileSync(new URL(path, site)),
  }));
}
