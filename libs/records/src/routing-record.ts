/** The routing record of one address: its longest match with every origin, explained. */

import { formatAddress, formatPrefix, hostPrefix } from "@netfacts/address";
import type { RoutingQuestion, RoutingRecord } from "@netfacts/contracts";
import { matchRoute, type RouteTable } from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";
import { upstreamsRecord } from "./path-parts.ts";
import {
  announcedOf,
  asSetOriginRecord,
  lessSpecifics,
  lowVisibilityRecord,
  moasRecord,
  noMoas,
  originRecord,
  relatedPrefix,
  rpkiSummary,
  viewRoute,
  visibilityRecord,
  warnAboutDefaultRoute,
  warnAboutOrigins,
  warnAboutOriginVrps,
  warnAboutRoute,
} from "./route-parts.ts";

/** The record without `meta`, which `notes` provides. */
export type RoutingRecordBody = Omit<RoutingRecord, "meta">;

export function routingRecord({ ip, moreSpecifics, upstreams, limit }: RoutingQuestion, notes: AnswerNotes): RoutingRecordBody {
  const { generation } = notes;
  notes.use("routes", "vrps", "allocations", "as_names");
  const { routes, allocations } = generation;
  const match = routes === null ? null : matchRoute(routes, ip, generation.matchPeersMin(ip.version));
  if (routes === null || match === null || match.entry < 0) {
    const announced = announcedOf(generation, ip.version);
    if (match?.defaultOnly) warnAboutDefaultRoute(notes, ip, announced);
    return {
      ip: formatAddress(ip),
      announced,
      match: { prefix: null, type: "none" },
      visibility: null,
      origins: [],
      as_set_origins: [],
      low_visibility_matches: [],
      moas: noMoas(announced),
      rpki: rpkiSummary(generation, null, hostPrefix(ip)),
      less_specifics: [],
      ...(moreSpecifics && { more_specifics: { count: announced === null ? null : 0, items: [], truncated: false } }),
    };
  }
  const view = viewRoute(routes, match.entry);
  const rpki = rpkiSummary(generation, view, view.prefix);
  const [winner] = allocations?.recordsAt(ip) ?? [];
  const allocation = winner === undefined || allocations === null ? null : allocations.entry(winner);
  warnAboutRoute(notes, view, rpki, allocation, match.lowVisibility.length);
  warnAboutOrigins(notes, "", view);
  warnAboutOriginVrps(notes, view, rpki.covering_vrps);
  return {
    ip: formatAddress(ip),
    announced: true,
    match: { prefix: formatPrefix(view.prefix), type: "longest" },
    visibility: visibilityRecord(generation, ip.version, view.counts),
    origins: view.shown.origins.map((origin) => ({
      ...originRecord(notes, view, origin, allocation),
      ...(upstreams && { upstreams: upstreamsRecord(generation, view, origin.asn) }),
    })),
    as_set_origins: view.shown.asSets.map((origin) => asSetOriginRecord(notes, view, origin)),
    low_visibility_matches: match.lowVisibility.map((entry) => lowVisibilityRecord(generation, routes, entry)),
    moas: moasRecord(view),
    rpki,
    less_specifics: lessSpecifics(routes, match.entry).map((entry) => relatedPrefix(generation, routes, entry)),
    ...(moreSpecifics && { more_specifics: moreSpecificsOf(routes, match.entry, limit, notes) }),
  };
}

function moreSpecificsOf(
  routes: RouteTable,
  entry: number,
  limit: number,
  notes: AnswerNotes,
): NonNullable<RoutingRecord["more_specifics"]> {
  const items: NonNullable<RoutingRecord["more_specifics"]>["items"] = [];
  let count = 0;
  const match = routes.prefixes.prefixAt(entry);
  for (const inside of routes.prefixes.moreSpecifics(match)) {
    if (count < limit) items.push(relatedPrefix(notes.generation, routes, inside));
    count++;
  }
  if (count > limit)
    notes.warnTruncated(
      "more_specifics",
      `more_specifics shows ${limit} of ${count}; /api/v1/prefix/${formatPrefix(match)} has all of them`,
    );
  return { count, items, truncated: count > limit };
}
