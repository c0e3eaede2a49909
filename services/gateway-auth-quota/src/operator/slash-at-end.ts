/** Paths with a slash at the end: `/admin/v1/keys/` is not the list of keys, and no key has an empty id. */

import { adminRoutes, ingestRoutes } from "@netfacts/contracts/openapi";
import { noRoute } from "../edge/routes.ts";

const paths: ReadonlySet<string> = new Set([...adminRoutes, ...ingestRoutes].map(({ path }) => path));

/** The path of the route that differs only by the slash at the end; null if there is none. */
export function pathMeant(url: string): string | null {
  const path = pathOf(url);
  let end = path.length;
  // By hand: a regular expression takes milliseconds for a path of slashes, and this runs before the key is checked.
  while (path[end - 1] === "/") end--;
  const meant = path.slice(0, end);
  return paths.has(meant) ? meant : null;
}

/** @throws ProblemError for a path with a slash at the end, which no route has. */
export function refuseSlashAtEnd(url: string): void {
  if (pathOf(url).endsWith("/")) throw noRoute(pathMeant(url));
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
