/** Section `routes`. */

import { columnPieces, routesFormat } from "@netfacts/snapshot";
import { buildRoutes } from "../pipeline/build-routes.ts";
import { checkRoutes } from "../verify/check-routes.ts";
import type { JoiningSection } from "./section-kind.ts";

export const routes: JoiningSection = {
  async build({ config, ribs, put, readHistory }) {
    const { columns, entry, ingestObjects, notes } = await buildRoutes(config, ribs, put, readHistory);
    const { counts, ...rest } = entry;
    return { pieces: columnPieces(routesFormat, columns), counts, entry: rest, ingestObjects, notes, routes: columns };
  },
  compared: ({ ipv4 = 0, ipv6 = 0 }) => ({ "IPv4 prefixes": ipv4, "IPv6 prefixes": ipv6 }),
  version: (asOf) => asOf.slice(0, 16).replace(/-/g, "").replace("T", ".").replace(":", ""),
  check: (generation, { collectors, upstreamsMax }) => checkRoutes(generation, collectors, upstreamsMax),
};
