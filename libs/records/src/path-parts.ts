/** Parts of records about neighbours on the paths that peers announced: positions, never business relations. */

import type { AsnQuestion, Neighbours, Upstream } from "@netfacts/contracts";
import type { Generation } from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";
import { nameOf, type RouteView, share } from "./route-parts.ts";

/** ASes next to an origin on the paths to its prefix; null where they are not known. */
export function upstreamsRecord(generation: Generation, view: RouteView, asn: number | null): Upstream[] | null {
  const upstreams = asn === null ? null : (generation.routes?.upstreamsOf(view.entry, asn) ?? null);
  if (upstreams === null) return null;
  return upstreams.items.map(({ asn: next, paths }) => ({
    asn: next,
    name: nameOf(generation, next),
    paths,
    share: share(paths, upstreams.paths),
  }));
}

/** A page of the neighbours of an AS, most paths first; null: they are not known. `aspa` says which neighbours the AS authorises as providers. */
export function neighboursRecord(question: AsnQuestion, notes: AnswerNotes): Neighbours | null {
  const { asn, limit } = question;
  const { generation } = notes;
  const start = notes.start("neighbours");
  const summary = generation.routes?.summariseNeighbours(asn, start + limit) ?? null;
  if (summary === null) return null;
  const { counts, pathsLeft, pathsRight, most } = summary;
  const total = counts.left + counts.right + counts.uncertain;
  const providers = new Set(generation.aspas?.lookupAspa(asn)?.providers);
  const items = most.slice(start).map((neighbour) => ({
    asn: neighbour.asn,
    name: nameOf(generation, neighbour.asn),
    position: neighbour.position,
    paths_left: neighbour.pathsLeft,
    paths_right: neighbour.pathsRight,
    share: neighbour.position === "right" ? share(neighbour.pathsRight, pathsRight) : share(neighbour.pathsLeft, pathsLeft),
    ipv4: neighbour.ipv4,
    ipv6: neighbour.ipv6,
    aspa: providers.has(neighbour.asn) ? "provider" : null,
  }));
  const next_cursor = notes.nextCursor("asn", question, "neighbours", items.length, total);
  return { method: "observed-paths", counts, items, next_cursor };
}
