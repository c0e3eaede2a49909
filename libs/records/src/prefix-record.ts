/** The record of one prefix: its announcement, its VRPs, the prefixes around and inside it, and its registration. */

import { formatPrefix, type Prefix } from "@netfacts/address";
import type { PrefixQuestion, PrefixRecord, PrefixVrps } from "@netfacts/contracts";
import type { Vrp, VrpRange, VrpSet } from "@netfacts/rpki";
import {
  type AllocationEntry,
  type AllocationTable,
  type Generation,
  lookupSpecialPurposePrefix,
  type RouteTable,
} from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";
import { allocationRecord, specialPurposeRecord } from "./registration-parts.ts";
import {
  announcedOf,
  asSetOriginRecord,
  lessSpecifics,
  moasRecord,
  noMoas,
  originRecord,
  type RouteView,
  relatedPrefix,
  rpkiSummary,
  share,
  viewRoute,
  visibilityRecord,
  warnAboutOrigins,
  warnAboutOriginVrps,
  warnAboutRoute,
} from "./route-parts.ts";
import { finish, mapSteps, type Steps } from "./steps.ts";
import { vrpRecord, vrpsShownMax, warnAboutVrps } from "./validation-parts.ts";

type Related = ReturnType<AllocationTable["relation"]>;

/** The record without `meta`, which `notes` provides. */
export type PrefixRecordBody = Omit<PrefixRecord, "meta">;

export function prefixRecord(question: PrefixQuestion, notes: AnswerNotes): PrefixRecordBody {
  return finish(prefixSteps(question, notes));
}

/** As `prefixRecord`, in steps: a short prefix has long lists. */
export function* prefixSteps(question: PrefixQuestion, notes: AnswerNotes): Steps<PrefixRecordBody> {
  const { prefix } = question;
  const { generation } = notes;
  notes.use("routes", "vrps", "allocations", "as_names");
  const { routes, allocations } = generation;
  const related = allocations?.relation(prefix) ?? null;
  const [winner] = isOneBlock(related) ? related.records.slice(0, 1) : [];
  const allocation = winner === undefined ? null : (allocations?.entry(winner) ?? null);
  const entry = routes === null ? -1 : matchOf(routes, prefix);
  const view = routes === null || entry < 0 ? null : viewRoute(routes, entry);
  const rpki = rpkiSummary(generation, view, prefix);
  if (view !== null) {
    warnAboutRoute(notes, view, rpki, allocation, 0);
    warnAboutOrigins(notes, "", view);
    warnAboutOriginVrps(notes, view, rpki.covering_vrps);
  }
  const exact = view !== null && view.prefix.length === prefix.length;
  return {
    prefix: formatPrefix(prefix),
    version: prefix.version,
    special_purpose: specialPurposeRecord(lookupSpecialPurposePrefix(prefix)),
    announced: exact ? true : announcedOf(generation, prefix.version),
    match: view === null ? { prefix: null, type: "none" } : { prefix: formatPrefix(view.prefix), type: exact ? "exact" : "covering" },
    visibility: view === null ? null : visibilityRecord(generation, prefix.version, view.counts),
    origins: view === null ? [] : yield* originsOf(view, allocation, notes),
    as_set_origins: view === null ? [] : yield* oneByOne(view.shown.asSets, (origin) => asSetOriginRecord(notes, view, origin)),
    moas: view === null ? noMoas(announcedOf(generation, prefix.version)) : moasRecord(view),
    rpki,
    vrps: yield* vrpsOf(question, notes),
    less_specifics:
      routes === null ? [] : lessSpecificsOf(routes, prefix, entry, exact).map((less) => relatedPrefix(generation, routes, less)),
    more_specifics: yield* moreSpecificsOf(routes, question, exact, notes),
    allocation: {
      relation: related?.relation ?? null,
      ...(yield* blocksOf(related, question, notes)),
    },
  };
}

/** The exact entry, otherwise the longest that covers the prefix; a default route only if the question is about it. */
function matchOf(routes: RouteTable, prefix: Prefix): number {
  const entry = routes.prefixes.covering(prefix);
  return entry >= 0 && routes.prefixes.lengthAt(entry) === 0 && prefix.length > 0 ? -1 : entry;
}

function originsOf(view: RouteView, allocation: AllocationEntry | null, notes: AnswerNotes): Steps<PrefixRecord["origins"]> {
  return oneByOne(view.shown.origins, (origin) => originRecord(notes, view, origin, allocation));
}

/** One item per step, as the verdict of one may have to read thousands of VRPs. */
function* oneByOne<T, U>(items: readonly T[], of: (item: T) => U): Steps<U[]> {
  const list: U[] = [];
  for (const item of items) {
    if (list.push(of(item)) < items.length) yield;
  }
  return list;
}

/** For an exact match, the entries that cover it; otherwise the match itself is the first less specific. */
function lessSpecificsOf(routes: RouteTable, prefix: Prefix, entry: number, exact: boolean): number[] {
  if (entry < 0 || prefix.length === 0) return [];
  return exact ? lessSpecifics(routes, entry) : [entry, ...lessSpecifics(routes, entry)];
}

function* moreSpecificsOf(
  routes: RouteTable | null,
  question: PrefixQuestion,
  exact: boolean,
  notes: AnswerNotes,
): Steps<PrefixRecord["more_specifics"]> {
  const { prefix, limit } = question;
  if (routes === null) return { count: null, items: [], announced_share: null, next_cursor: null };
  const isTold = exact || announcedOf(notes.generation, prefix.version) !== null;
  const count = routes.prefixes.countMoreSpecifics(prefix);
  const start = notes.start("more_specifics");
  const shown = first(routes.prefixes.moreSpecifics(prefix, start), limit);
  const items = yield* mapSteps(shown, (entry) => relatedPrefix(notes.generation, routes, entry));
  const next_cursor = notes.nextCursor("prefix", question, "more_specifics", items.length, count);
  if (!isTold) return { count: count === 0 ? null : count, items, announced_share: null, next_cursor };
  // A default route does not announce any space of its own.
  const announcedShare = exact && prefix.length > 0 ? 1 : share(routes.prefixes.coveredShare(prefix), 1);
  return { count, items, announced_share: announcedShare, next_cursor };
}

function first<T>(items: Iterable<T>, count: number): T[] {
  const list: T[] = [];
  for (const item of items) {
    if (list.length === count) break;
    list.push(item);
  }
  return list;
}

function* vrpsOf(question: PrefixQuestion, notes: AnswerNotes): Steps<PrefixVrps | null> {
  const { prefix, limit } = question;
  const { vrps } = notes.generation;
  if (vrps === null) return null;
  const covering = vrps.covering(prefix);
  warnAboutVrps(notes, "vrps.covering", covering.length);
  const inside = vrps.moreSpecificRange(prefix);
  // Reads one more than is shown, to find out whether there are more. They are not counted, as a short prefix holds hundreds of thousands.
  const start = notes.start("vrps.unannounced");
  const found: Placed[] = [];
  for (const next of unannounced(notes.generation, { covering, inside, prefix }, start)) {
    if (next === null) yield;
    else if (found.push(next) > limit) break;
  }
  const more = found[limit];
  return {
    covering: covering.slice(0, vrpsShownMax).map(vrpRecord),
    more_specific_count: inside.end - inside.start,
    unannounced: yield* mapSteps(found.slice(0, limit), ({ vrp }) => vrpRecord(vrp)),
    next_cursor:
      more === undefined
        ? null
        : notes.cursorAt("prefix", question, "vrps.unannounced", more.place, `vrps.unannounced shows ${limit}, and there are more`),
  };
}

/** A VRP, and its place among those of the prefix and inside it. */
interface Placed {
  readonly vrp: Vrp;
  readonly place: number;
}

/** Number of VRPs that one step examines. */
const stepVrps = 512;

/**
 * The VRPs of the prefix and inside it that no route uses, each with its place among all VRPs there; null after a step's work. Empty if the routes
 * cannot tell. A page begins at a place, so that earlier VRPs are not examined again.
 */
function* unannounced(
  generation: Generation,
  {
    covering,
    inside,
    prefix: { version, length },
  }: { readonly covering: readonly Vrp[]; readonly inside: VrpRange; readonly prefix: Prefix },
  start: number,
): Generator<Placed | null> {
  const { vrps, routes } = generation;
  if (vrps === null || routes === null || announcedOf(generation, version) === null) return;
  const equal = covering.filter((vrp) => vrp.prefix.length === length);
  for (let place = start; place < equal.length; place++) {
    const vrp = equal[place] as Vrp;
    if (!isAnnounced(routes, vrp)) yield { vrp, place };
  }
  const known = statesIn(generation, vrps);
  const firstPlace = inside.start - equal.length;
  for (let index = Math.max(inside.start, firstPlace + start); index < inside.end; index++) {
    if (known[index] === state.unknown) known[index] = isAnnounced(routes, vrps.vrpAt(index)) ? state.announced : state.unannounced;
    if (known[index] === state.unannounced) yield { vrp: vrps.vrpAt(index), place: index - firstPlace };
    if (index % stepVrps === 0) yield null;
  }
}

const state = { unknown: 0, announced: 1, unannounced: 2 } as const;
/** Cached states of the VRPs of a generation, by their index: a short prefix asks for hundreds of thousands. */
const statesOf = new WeakMap<Generation, Uint8Array>();

function statesIn(generation: Generation, vrps: VrpSet): Uint8Array {
  let known = statesOf.get(generation);
  if (known === undefined) {
    known = new Uint8Array(vrps.size);
    statesOf.set(generation, known);
  }
  return known;
}

/** Whether the VRP authorises any announced route. A VRP of AS 0 counts as announced: it authorises no route (RFC 7607). */
function isAnnounced(routes: RouteTable, vrp: Vrp): boolean {
  if (vrp.asn === 0) return true;
  const exact = routes.prefixes.exact(vrp.prefix);
  if (exact >= 0 && routes.hasOrigin(exact, vrp.asn)) return true;
  if (vrp.maxLength > vrp.prefix.length)
    for (const entry of routes.prefixes.moreSpecifics(vrp.prefix))
      if (routes.prefixes.lengthAt(entry) <= vrp.maxLength && routes.hasOrigin(entry, vrp.asn)) return true;
  return false;
}

/** Equal and within: one block wins for the whole prefix, and other records are its conflicts. In other relations each record is a separate block. */
function isOneBlock(related: Related | null): related is Related {
  return related?.relation === "equal" || related?.relation === "within";
}

function* blocksOf(
  related: Related | null,
  question: PrefixQuestion,
  notes: AnswerNotes,
): Steps<Omit<PrefixRecord["allocation"], "relation">> {
  if (related === null) return { total: null, blocks: [], next_cursor: null };
  if (related.records.length === 0) return { total: 0, blocks: [], next_cursor: null };
  const { generation } = notes;
  const { records } = related;
  const total = isOneBlock(related) ? 1 : records.length;
  const start = notes.start("allocation.blocks");
  const groups = isOneBlock(related)
    ? [records.slice(0, records.length)]
    : records.slice(start, start + question.limit).map((record) => [record]);
  return {
    total,
    blocks: (yield* mapSteps(groups, (group) => allocationRecord(generation, group))).filter((block) => block !== null),
    next_cursor: notes.nextCursor("prefix", question, "allocation.blocks", groups.length, total),
  };
}
