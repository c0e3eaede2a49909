/** The record of one prefix: how it is announced, what VRPs say of it, what lies around and inside, and who registered it. */

import { formatPrefix, type Prefix } from "@netfacts/address";
import type { Allocation, PrefixQuestion, PrefixRecord, PrefixVrps } from "@netfacts/contracts";
import type { Vrp, VrpRange, VrpSet } from "@netfacts/rpki";
import { type AllocationEntry, lookupSpecialPurposePrefix, type RouteTable } from "@netfacts/snapshot";
import { coveredShare } from "./address-space.ts";
import type { AnswerNotes } from "./answer.ts";
import { announcedOf } from "./ip-record.ts";
import { allocationRecord, specialPurposeRecord } from "./registration-parts.ts";
import {
  asSetOriginRecord,
  lessSpecifics,
  moasRecord,
  originRecord,
  type RouteView,
  relatedPrefix,
  rpkiSummary,
  viewRoute,
  visibilityRecord,
  warnAboutRoute,
} from "./route-parts.ts";
import { vrpRecord } from "./validation-parts.ts";

/** The record without `meta`, which `notes` gives. */
export type PrefixRecordBody = Omit<PrefixRecord, "meta">;

export function prefixRecord(question: PrefixQuestion, notes: AnswerNotes): PrefixRecordBody {
  const { prefix, limit } = question;
  const { generation, nowMs } = notes;
  notes.use("routes", "vrps", "allocations", "as_names");
  const { routes, allocations } = generation;
  const related = allocations?.relation(prefix) ?? null;
  const winner = related?.relation === "equal" || related?.relation === "within" ? related.records[0] : undefined;
  const allocation = winner === undefined ? null : (allocations?.entry(winner) ?? null);
  const entry = routes === null ? -1 : matchOf(routes, prefix);
  const view = routes === null || entry < 0 ? null : viewRoute(routes, entry);
  const rpki = rpkiSummary(generation, view, prefix);
  if (view !== null) warnAboutRoute(notes, view, rpki, allocation, 0);
  const exact = view !== null && view.prefix.length === prefix.length;
  return {
    prefix: formatPrefix(prefix),
    version: prefix.version,
    special_purpose: specialPurposeRecord(lookupSpecialPurposePrefix(prefix)),
    announced: exact ? true : announcedOf(notes, prefix.version),
    match: view === null ? { prefix: null, type: "none" } : { prefix: formatPrefix(view.prefix), type: exact ? "exact" : "covering" },
    visibility: view === null ? null : visibilityRecord(generation, prefix.version, view.counts),
    origins: view === null ? [] : originsOf(view, allocation, notes),
    as_set_origins: view === null ? [] : view.asSets.map((origin) => asSetOriginRecord(generation, view, origin, nowMs)),
    moas: view === null ? { is_moas: routes === null ? null : false, origin_count: 0 } : moasRecord(view),
    rpki,
    vrps: vrpsOf(prefix, limit, notes),
    less_specifics:
      routes === null ? [] : lessSpecificsOf(routes, prefix, entry, exact).map((less) => relatedPrefix(generation, routes, less)),
    more_specifics: moreSpecificsOf(routes, question, exact, notes),
    allocation: {
      relation: related?.relation ?? null,
      ...blocksOf(related, limit, notes),
    },
  };
}

/** The exact entry, else the longest that covers the prefix; a default route only where it is asked for. */
function matchOf(routes: RouteTable, prefix: Prefix): number {
  const entry = routes.prefixes.covering(prefix);
  return entry >= 0 && routes.prefixes.lengthAt(entry) === 0 && prefix.length > 0 ? -1 : entry;
}

function originsOf(view: RouteView, allocation: AllocationEntry | null, { generation, nowMs }: AnswerNotes): PrefixRecord["origins"] {
  return view.origins.map((origin) => originRecord(generation, view, origin, allocation, nowMs));
}

/** Of an exact match what covers it; of a covering one itself is the first less specific. */
function lessSpecificsOf(routes: RouteTable, prefix: Prefix, entry: number, exact: boolean): number[] {
  if (entry < 0 || prefix.length === 0) return [];
  return exact ? lessSpecifics(routes, entry) : [entry, ...lessSpecifics(routes, entry)];
}

function moreSpecificsOf(
  routes: RouteTable | null,
  question: PrefixQuestion,
  exact: boolean,
  notes: AnswerNotes,
): PrefixRecord["more_specifics"] {
  const { prefix, limit } = question;
  if (routes === null) return { count: 0, items: [], announced_share: null, next_cursor: null };
  const count = routes.prefixes.countMoreSpecifics(prefix);
  const start = notes.start("more_specifics");
  const items = first(routes.prefixes.moreSpecifics(prefix, start), limit).map((entry) => relatedPrefix(notes.generation, routes, entry));
  // A default route announces no space of its own.
  const announcedShare = exact && prefix.length > 0 ? 1 : coveredShare(prefix, outermost(routes, prefix));
  const next_cursor = notes.nextCursor("prefix", question, "more_specifics", items.length, count);
  return { count, items, announced_share: announcedShare, next_cursor };
}

function* outermost(routes: RouteTable, prefix: Prefix): Generator<Prefix> {
  for (const entry of routes.prefixes.outermostInside(prefix)) yield routes.prefixes.prefixAt(entry);
}

function first<T>(items: Iterable<T>, count: number): T[] {
  const list: T[] = [];
  for (const item of items) {
    if (list.length === count) break;
    list.push(item);
  }
  return list;
}

function vrpsOf(prefix: Prefix, limit: number, notes: AnswerNotes): PrefixVrps | null {
  const { vrps, routes } = notes.generation;
  if (vrps === null) return null;
  const covering = vrps.covering(prefix);
  const inside = vrps.moreSpecificRange(prefix);
  // One more than is shown tells that there are more; how many is not counted, as a short prefix holds them by the 100,000.
  const unannounced = routes === null ? [] : first(unused(vrps, routes, prefix, covering, inside), limit + 1);
  if (unannounced.length > limit) notes.warn("truncated", `vrps.unannounced shows the first ${limit}`);
  return {
    covering: covering.map(vrpRecord),
    more_specific_count: inside.end - inside.start,
    unannounced: unannounced.slice(0, limit).map(vrpRecord),
  };
}

/** VRPs of the prefix and inside it that no announced route uses. */
function* unused(vrps: VrpSet, routes: RouteTable, prefix: Prefix, covering: readonly Vrp[], inside: VrpRange): Generator<Vrp> {
  for (const vrp of covering) if (vrp.prefix.length === prefix.length && !isUsed(routes, vrp)) yield vrp;
  for (let index = inside.start; index < inside.end; index++) {
    const vrp = vrps.vrpAt(index);
    if (!isUsed(routes, vrp)) yield vrp;
  }
}

/** Whether any announced route is one that the VRP authorises. */
function isUsed(routes: RouteTable, vrp: Vrp): boolean {
  const exact = routes.prefixes.exact(vrp.prefix);
  if (exact >= 0 && routes.hasOrigin(exact, vrp.asn)) return true;
  if (vrp.maxLength > vrp.prefix.length)
    for (const entry of routes.prefixes.moreSpecifics(vrp.prefix))
      if (routes.prefixes.lengthAt(entry) <= vrp.maxLength && routes.hasOrigin(entry, vrp.asn)) return true;
  return false;
}

function blocksOf(
  related: { relation: string; records: readonly number[] } | null,
  limit: number,
  notes: AnswerNotes,
): { total: number; blocks: Allocation[] } {
  if (related === null || related.records.length === 0) return { total: 0, blocks: [] };
  const { generation } = notes;
  // Equal and within name one block, its rivals are its conflicts; otherwise each record is a block of its own.
  const groups =
    related.relation === "equal" || related.relation === "within" ? [related.records] : related.records.map((record) => [record]);
  if (groups.length > limit) notes.warn("truncated", `allocation.blocks shows ${limit} of ${groups.length}`);
  const blocks = groups.slice(0, limit).flatMap((records) => allocationRecord(generation, records) ?? []);
  return { total: groups.length, blocks };
}
