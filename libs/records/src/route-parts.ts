/** Parts of records about announcements: origins with their evidence, visibility, MOAS, and the RPKI state. */

import { type Address, formatPrefix, type Prefix, specialPurposeAsn } from "@netfacts/address";
import type {
  AsSetOrigin,
  LowVisibilityMatch,
  Moas,
  Origin,
  OriginSummary,
  OriginValidation,
  RelatedPrefix,
  RpkiState,
  RpkiSummary,
  Visibility,
} from "@netfacts/contracts";
import {
  type AllocationEntry,
  type Generation,
  isGlobal,
  lookupSpecialPurpose,
  lookupSpecialPurposePrefix,
  manyPeers,
  type PeerCounts,
  type RouteOrigin,
  type RouteTable,
  secondsTimestamp,
} from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";
import { asnSpecialPurposeRecord, sameHolder } from "./registration-parts.ts";
import { validationRecord, validationState, vrpsShownMax, warnAboutVrps } from "./validation-parts.ts";

/** A match that a smaller share of full-feed peers sees gets the warning `low_visibility`. */
const lowVisibilityShare = 0.03;

/**
 * Most origins of a prefix that an answer shows, most seen first; as many for AS_SETs. Real tables have some dozens at most. The verdict of each
 * reads all VRPs that cover the prefix.
 */
const originsShownMax = 100;

/** A share with three decimals; null if the whole is 0. Callers compare it with 0 and 1, so it is 0 only for none and 1 only for all. */
export function share(part: number, whole: number): number | null {
  if (whole === 0) return null;
  const rounded = Math.round((part / whole) * 1000) / 1000;
  if (rounded === 0 && part > 0) return 0.001;
  return rounded === 1 && part < whole ? 0.999 : rounded;
}

export function visibilityRecord(generation: Generation, version: 4 | 6, counts: PeerCounts): Visibility {
  const total = generation.peersTotal(version);
  return { peers_seeing: counts.full, peers_total: total, ratio: share(counts.full, total), partial_peers_seeing: counts.partial };
}

/** A prefix with its origins, read once and shown in parts. */
export interface RouteView {
  /** Number of the entry in its table. */
  readonly entry: number;
  readonly prefix: Prefix;
  readonly counts: PeerCounts;
  /** Origins that are an AS number, or unknown. */
  readonly origins: readonly RouteOrigin[];
  readonly asSets: readonly RouteOrigin[];
  /** The origins and AS_SETs that an answer shows. */
  readonly shown: Pick<RouteView, "origins" | "asSets">;
}

export function viewRoute(table: RouteTable, entry: number): RouteView {
  const all = table.origins(entry);
  const origins = all.filter((origin) => origin.asSet === null);
  const asSets = all.filter((origin) => origin.asSet !== null);
  return {
    entry,
    prefix: table.prefixes.prefixAt(entry),
    counts: table.prefixCounts(entry),
    origins,
    asSets,
    shown: { origins: origins.slice(0, originsShownMax), asSets: asSets.slice(0, originsShownMax) },
  };
}

export function moasRecord(view: RouteView): Moas {
  const count = view.origins.length;
  return { is_moas: count > 1, origin_count: count };
}

/** MOAS of a prefix without a route; `announced` null: not known. */
export function noMoas(announced: false | null): Moas {
  return { is_moas: announced, origin_count: announced === null ? null : 0 };
}

/**
 * Meaning of "no route found": false if the tables are complete enough; null if no routes are imported, or in a sample whose peers have no full table
 * of this family.
 */
export function announcedOf(generation: Generation, version: 4 | 6): false | null {
  if (generation.routes === null) return null;
  return generation.manifest.sample_data && generation.peersTotal(version) === 0 ? null : false;
}

/** An origin in short, as in `/ip`. */
export function originSummary(
  generation: Generation,
  view: RouteView,
  origin: RouteOrigin,
  allocation: AllocationEntry | null,
): OriginSummary {
  return {
    asn: origin.asn,
    name: nameOf(generation, origin.asn),
    special_purpose: asnSpecialPurposeRecord(origin.asn),
    same_holder_as_allocation: sameHolder(generation, origin.asn, allocation),
    visibility: visibilityRecord(generation, view.prefix.version, origin),
    rpki_state: validationState(generation, view.prefix, origin.asn).state,
  };
}

/** An origin with its evidence. */
export function originRecord(notes: AnswerNotes, view: RouteView, origin: RouteOrigin, allocation: AllocationEntry | null): Origin {
  const { generation } = notes;
  const seen = origin.asn === null ? null : (generation.routes?.seen(view.entry, origin.asn) ?? null);
  return {
    asn: origin.asn,
    name: nameOf(generation, origin.asn),
    registration_country: origin.asn === null ? null : (generation.allocations?.asn(origin.asn)?.country ?? null),
    special_purpose: asnSpecialPurposeRecord(origin.asn),
    same_holder_as_allocation: sameHolder(generation, origin.asn, allocation),
    visibility: visibilityRecord(generation, view.prefix.version, origin),
    first_seen_at: secondsTimestamp(seen?.first ?? null),
    last_seen_at: secondsTimestamp(seen?.last ?? null),
    rpki: validationRecord(notes, view.prefix, origin.asn, false, vrpsMaxOf(view)),
  };
}

export function asSetOriginRecord(notes: AnswerNotes, view: RouteView, origin: RouteOrigin): AsSetOrigin {
  return {
    as_set: [...(origin.asSet ?? [])],
    visibility: visibilityRecord(notes.generation, view.prefix.version, origin),
    rpki: validationRecord(notes, view.prefix, null, true, vrpsMaxOf(view)),
  };
}

/** Most VRPs that the verdict of one origin shows: all origins together show about as many as a single one. */
function vrpsMaxOf({ shown }: RouteView): number {
  return Math.ceil(vrpsShownMax / (shown.origins.length + shown.asSets.length));
}

/** Warns of VRPs that the verdicts of origins leave out. @param covering number of VRPs that cover the route's prefix. */
export function warnAboutOriginVrps(notes: AnswerNotes, view: RouteView, covering: number | null): void {
  if (view.origins.length > 0) warnAboutVrps(notes, "origins", covering, vrpsMaxOf(view));
  warnAboutSetVrps(notes, "as_set_origins", view, covering);
}

export function warnAboutSetVrps(notes: AnswerNotes, list: string, view: RouteView, covering: number | null): void {
  if (view.asSets.length > 0) warnAboutVrps(notes, list, covering, vrpsMaxOf(view));
}

/** Warns of origins that are left out. @param parent  the path of the lists, with its dot. */
export function warnAboutOrigins(notes: AnswerNotes, parent: string, { origins, asSets, shown }: RouteView): void {
  const warn = (list: string, some: number, all: number) => {
    if (all > some) notes.warnTruncated(`${parent}${list}`, `${parent}${list} shows ${some} of ${all} origins of the prefix`);
  };
  warn("origins", shown.origins.length, origins.length);
  warn("as_set_origins", shown.asSets.length, asSets.length);
}

const badness: Record<RpkiState, number> = { valid: 0, "not-found": 1, invalid: 2 };

/**
 * The RPKI state of a prefix in one word: that of the origin that most full-feed peers see; if equal, the worse. AS_SET origins count in `by_state`,
 * and in `state` only if there are no others.
 *
 * @param prefix  the prefix that `covering_vrps` counts for if nothing is announced.
 */
export function rpkiSummary(generation: Generation, view: RouteView | null, prefix: Prefix): RpkiSummary {
  const { vrps } = generation;
  if (vrps === null) return { state: null, reason: null, mixed: null, by_state: {}, covering_vrps: null };
  const coveringVrps = vrps.covering(view?.prefix ?? prefix).length;
  const byState: Partial<Record<"valid" | "invalid" | "not_found", { origins: number; peers_seeing: number }>> = {};
  let leading: { full: number; state: RpkiState; reason: OriginValidation["reason"] } | null = null;
  for (const origin of view === null ? [] : [...view.origins, ...view.asSets]) {
    const { state, reason } = validationState(generation, view?.prefix ?? prefix, origin.asn);
    if (state === null) continue;
    const member = state === "not-found" ? "not_found" : state;
    const sum = byState[member] ?? { origins: 0, peers_seeing: 0 };
    byState[member] = { origins: sum.origins + 1, peers_seeing: Math.min(sum.peers_seeing + origin.full, view?.counts.full ?? 0) };
    const isSet = origin.asSet !== null;
    if (isSet && view !== null && view.origins.length > 0) continue;
    if (leading === null || origin.full > leading.full || (origin.full === leading.full && badness[state] > badness[leading.state]))
      leading = { full: origin.full, state, reason };
  }
  return {
    state: leading?.state ?? null,
    reason: leading?.reason ?? null,
    mixed: view === null ? announcedOf(generation, prefix.version) : byState.valid !== undefined && byState.invalid !== undefined,
    by_state: {
      ...(byState.valid && { valid: byState.valid }),
      ...(byState.invalid && { invalid: byState.invalid }),
      ...(byState.not_found && { not_found: byState.not_found }),
    },
    covering_vrps: coveringVrps,
  };
}

/** Origins as numbers: each AS, and the members of each AS_SET. */
function originNumbers({ origins, asSets }: RouteView): Pick<RelatedPrefix, "origins" | "as_set_origins"> {
  return {
    origins: origins.slice(0, originsShownMax).map(({ asn }) => asn),
    as_set_origins: asSets.slice(0, originsShownMax).map(({ asSet }) => [...(asSet ?? [])]),
  };
}

/** A related prefix in short. */
export function relatedPrefix(generation: Generation, table: RouteTable, entry: number): RelatedPrefix {
  const view = viewRoute(table, entry);
  return {
    prefix: formatPrefix(view.prefix),
    ...originNumbers(view),
    rpki_state: rpkiSummary(generation, view, view.prefix).state,
    visibility_ratio: share(view.counts.full, generation.peersTotal(view.prefix.version)),
  };
}

export function lowVisibilityRecord(generation: Generation, table: RouteTable, entry: number): LowVisibilityMatch {
  const view = viewRoute(table, entry);
  return {
    prefix: formatPrefix(view.prefix),
    ...originNumbers(view),
    visibility: visibilityRecord(generation, view.prefix.version, view.counts),
  };
}

/** Announced prefixes that cover an entry, most specific first, without default routes. */
export function lessSpecifics(table: RouteTable, entry: number): number[] {
  const list: number[] = [];
  for (let at = entry < 0 ? -1 : table.prefixes.parent(entry); at >= 0 && table.prefixes.lengthAt(at) > 0; at = table.prefixes.parent(at))
    list.push(at);
  return list;
}

/** Adds the warnings for a matched route. */
export function warnAboutRoute(
  notes: AnswerNotes,
  view: RouteView,
  rpki: RpkiSummary,
  allocation: AllocationEntry | null,
  lowVisibility: number,
): void {
  const total = notes.generation.peersTotal(view.prefix.version);
  if (lowVisibility > 0) notes.warn("low_visibility", `${lowVisibility} longer prefixes were ignored because too few peers see them`);
  else if (total >= manyPeers && view.counts.full / total < lowVisibilityShare)
    notes.warn("low_visibility", `seen by ${view.counts.full} of ${total} peers`);
  const bogon = bogonReason(view, allocation);
  if (bogon !== null) notes.warn("bogon_announced", bogon);
  if (rpki.mixed) notes.warn("rpki_mixed", "some origins are RPKI-valid, others are RPKI-invalid");
}

/**
 * Adds the warning for an address that only a default route covers, if it means something: with a full table, a default route is specific to one
 * peer, and an address without another route is not announced.
 */
export function warnAboutDefaultRoute(notes: AnswerNotes, ip: Address, announced: false | null): void {
  if (announced === null || notes.generation.peersTotal(ip.version) > 0 || !isGlobal(ip, lookupSpecialPurpose(ip))) return;
  notes.warn("default_route_only", "only a default route covers the address");
}

function bogonReason(view: RouteView, allocation: AllocationEntry | null): string | null {
  const block = lookupSpecialPurposePrefix(view.prefix);
  // A shorter prefix contains 2000::/3, or is a default route.
  if (!isGlobal(view.prefix, block) && (view.prefix.version === 4 || view.prefix.length >= 3))
    return `${formatPrefix(view.prefix)} is in ${block === null ? "unassigned" : block.name} space${block === null ? "" : ` (${block.rfc})`}`;
  if (allocation !== null && (allocation.status === "available" || allocation.status === "reserved"))
    return `${formatPrefix(view.prefix)} is announced, but the registry status of its space is ${allocation.status}`;
  for (const { asn } of view.origins) {
    const special = asn === null ? null : specialPurposeAsn(asn);
    if (special?.originates === false) return `AS${asn} is special-purpose (${special.name}, ${special.rfc})`;
  }
  return null;
}

export function nameOf(generation: Generation, asn: number | null): string | null {
  return asn === null ? null : (generation.names?.lookupName(asn) ?? null);
}
