/** The pages of a listener without a key: documentation, OpenAPI document with its reference page, explanations of problems, and icon. */

import { contentTypes, type ProblemCode, ProblemError, problemCodes } from "@netfacts/contracts";
import type { Json } from "@netfacts/contracts/openapi";
import type { Route } from "../edge/routes.ts";
import { docsSiteRoutes } from "./docs-site.ts";
import { errorIndex, errorPage } from "./error-pages.ts";
import { favicon } from "./favicon.ts";
import { pageStyle } from "./page.ts";
import { referencePage, referenceScript, swaggerUiScript, swaggerUiStyle } from "./reference-page.ts";
import { robots } from "./robots.ts";
import { staticHandler } from "./static-file.ts";

/** Route for `/` of a listener that has no page there, because a start prints this address. */
export const referenceAtRoot: Route = {
  url: "/",
  handler(_request, reply) {
    return reply.header("cache-control", "no-store").redirect("/docs");
  },
};

/**
 * @param routesPage  the page of the documentation with the same routes.
 * @param document    called at the first request.
 */
export function docsRoutes(title: string, routesPage: string, document: () => Json): Route[] {
  const openApi = staticHandler(() => ({ contentType: contentTypes.json, body: JSON.stringify(document()) }));
  const index = staticHandler(errorIndex);
  const errorPages = new Map<string, ReturnType<typeof staticHandler>>(
    problemCodes.map((code: ProblemCode) => [code, staticHandler(() => errorPage(code))]),
  );
  const site = docsSiteRoutes();
  const reference = staticHandler(() => referencePage(title, site.length > 0 ? routesPage : null));
  return [
    ...(site.length > 0 ? site : ["/docs", "/docs/"].map((url) => ({ url, handler: reference }))),
    { url: "/favicon.ico", handler: staticHandler(favicon) },
    { url: "/robots.txt", handler: staticHandler(robots) },
    { url: "/openapi.json", handler: openApi },
    { url: "/docs/reference", handler: reference },
    { url: "/docs/reference.js", handler: staticHandler(() => referenceScript("/openapi.json")) },
    { url: "/docs/swagger-ui.css", handler: staticHandler(swaggerUiStyle) },
    { url: "/docs/swagger-ui-bundle.js", handler: staticHandler(swaggerUiScript) },
    { url: "/docs/page.css", handler: staticHandler(() => pageStyle) },
    { url: "/docs/errors", handler: index },
    { url: "/docs/errors/", handler: index },
    {
      url: "/docs/errors/:code",
      handler(request, reply) {
        const handler = errorPages.get((request.params as { readonly code: string }).code);
        if (handler === undefined) throw new ProblemError("route_not_found", { detail: "There is no problem with this code." });
        return handler.call(this, request, reply);
      },
    },
  ];
}
