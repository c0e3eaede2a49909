/** The URL of a data route, from the examples of its parameters. */

import type { dataRoutes } from "@netfacts/contracts/openapi";

type Values = Readonly<Record<string, string>>;

/** The route's URL with the first example of what it needs, these parameters, and these ones of its path. */
export function exampleUrl(route: (typeof dataRoutes)[number], query: Values = {}, inPath: Values = {}): string {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(inPath[name] ?? route.parameters.find((parameter) => parameter.name === name)?.examples[0] ?? ""),
  );
  const required = route.parameters.filter((parameter) => parameter.required === true).map(({ name, examples }) => [name, examples[0]]);
  const search = new URLSearchParams({ ...Object.fromEntries(required), ...query });
  return search.size === 0 ? path : `${path}?${search}`;
}
