/** The URL of a data route, from the examples of its parameters. */

import type { dataRoutes } from "@netfacts/contracts/openapi";

/** The route's URL with the first example of what it needs, and these parameters. */
export function exampleUrl(route: (typeof dataRoutes)[number], query: Readonly<Record<string, string>> = {}): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(route.parameters.find((parameter) => parameter.name === name)?.examples[0] ?? ""),
  );
  const required = route.parameters.filter((parameter) => parameter.required === true).map(({ name, examples }) => [name, examples[0]]);
  const search = new URLSearchParams({ ...Object.fromEntries(required), ...query });
  return search.size === 0 ? path : `${path}?${search}`;
}
