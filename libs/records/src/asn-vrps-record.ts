/** The record of the VRPs of one AS, with their use by its announcements. */

import { makePrefix } from "@netfacts/address";
import type { AsnVrp, AsnVrpsQuestion, AsnVrpsRecord } from "@netfacts/contracts";
import type { VrpSet } from "@netfacts/rpki";
import { type Generation, type RouteTable, searchAscending } from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";
import { announcedOf } from "./route-parts.ts";
import type { Steps } from "./steps.ts";
import { vrpRecord } from "./validation-parts.ts";
import { vrpNumbersOf } from "./vrps-by-as.ts";

/** The VRPs of an AS, in columns: an AS may have tens of thousands. */
interface VrpUse {
  readonly vrps: VrpSet;
  /** Ascending. */
  readonly numbers: Uint32Array;
  /** For each item of `numbers`: the number of announced prefixes that the VRP authorises, or `unknown`. */
  readonly announced: Int32Array;
}

const unknown = -1;

export function* asnVrpsSteps(question: AsnVrpsQuestion, notes: AnswerNotes): Steps<Omit<AsnVrpsRecord, "meta">> {
  const { generation } = notes;
  const { asn } = question;
  notes.use("vrps", "routes", "as_names");
  const numbers = yield* vrpNumbersOf(generation, asn);
  const use = generation.vrps === null || numbers === null ? null : useOf(generation, generation.vrps, numbers, asn);
  return {
    asn,
    name: generation.names?.lookupName(asn) ?? null,
    counts: use === null ? null : countsOf(use),
    vrps: listOf(question, notes, use),
  };
}

/** The result for an AS with this many VRPs and announced prefixes is cached: computing it takes about a millisecond. */
const rememberedFrom = 1_024;
const largeOf = new WeakMap<Generation, Map<number, VrpUse>>();

function useOf(generation: Generation, vrps: VrpSet, numbers: Uint32Array, asn: number): VrpUse {
  const known = largeOf.get(generation)?.get(asn);
  if (known !== undefined) return known;
  const { routes } = generation;
  const announced = new Int32Array(numbers.length).fill(unknown);
  const use = { vrps, numbers, announced };
  // A VRP of AS 0 authorises nothing (RFC 7607), so announcements do not apply to it.
  if (asn === 0 || routes === null || numbers.length === 0) return use;
  const tells = { 4: announcedOf(generation, 4) !== null, 6: announcedOf(generation, 6) !== null };
  for (const [place, vrp] of numbers.entries()) if (tells[familyOf(vrps, vrp)]) announced[place] = 0;
  const { entry } = routes.originatedBy(asn);
  for (const announcement of [...defaultRoutesOf(routes, asn), ...entry])
    for (const vrp of vrps.matching(routes.prefixes.prefixAt(announcement), asn)) {
      const place = searchAscending(numbers, vrp);
      announced[place] = Math.max(0, announced[place] as number) + 1;
    }
  if (numbers.length + entry.length >= rememberedFrom) {
    const large = largeOf.get(generation) ?? new Map<number, VrpUse>();
    largeOf.set(generation, large.set(asn, use));
  }
  return use;
}

/** Entries of default routes of the AS: they are no prefixes of it, but they use the VRPs that authorise them. */
function defaultRoutesOf(routes: RouteTable, asn: number): number[] {
  return ([4, 6] as const)
    .map((version) => routes.prefixes.exact(makePrefix(version, 0, 0, 0, 0, 0)))
    .filter((entry) => entry >= 0 && routes.hasOrigin(entry, asn));
}

function familyOf(vrps: VrpSet, vrp: number): 4 | 6 {
  return vrp < vrps.ipv4Size ? 4 : 6;
}

function countsOf({ vrps, numbers, announced }: VrpUse): AsnVrpsRecord["counts"] {
  const isKnown = !announced.includes(unknown);
  return {
    vrps: numbers.length,
    unannounced: isKnown ? announced.reduce((sum, count) => (count === 0 ? sum + 1 : sum), 0) : null,
    max_length_loose: isKnown ? numbers.reduce((sum, vrp) => sum + (vrps.columns.loose[vrp] as number), 0) : null,
  };
}

function listOf(question: AsnVrpsQuestion, notes: AnswerNotes, use: VrpUse | null): AsnVrpsRecord["vrps"] {
  const { limit } = question;
  if (use === null) return { items: [], total: null, limit, next_cursor: null };
  const { places, isKnown } = chosenOf(question, use);
  const start = notes.start("vrps");
  const items = places.slice(start, start + limit).map((place) => itemOf(use, place));
  const next_cursor = notes.nextCursor("asn_vrps", question, "vrps", items.length, places.length);
  return { items, total: isKnown ? places.length : null, limit, next_cursor };
}

/** Indexes in `numbers` of the chosen VRPs, and whether the choice is certain for each VRP. */
function chosenOf(question: AsnVrpsQuestion, { vrps, numbers, announced }: VrpUse): { places: number[]; isKnown: boolean } {
  const { family } = question;
  const asksForUse = question.announced !== null || question.loose !== null;
  const places: number[] = [];
  let isKnown = true;
  for (const [place, vrp] of numbers.entries()) {
    if (family !== null && family !== familyOf(vrps, vrp)) continue;
    const count = announced[place] as number;
    if (asksForUse && count === unknown) isKnown = false;
    else if (
      (question.announced === null || count > 0 === question.announced) &&
      (question.loose === null || (vrps.columns.loose[vrp] === 1) === question.loose)
    )
      places.push(place);
  }
  return { places, isKnown };
}

function itemOf({ vrps, numbers, announced }: VrpUse, place: number): AsnVrp {
  const vrp = vrps.vrpAt(numbers[place] as number);
  const count = announced[place] as number;
  return {
    ...vrpRecord(vrp),
    announced_prefixes: count === unknown ? null : count,
    max_length_loose: count === unknown ? null : vrp.loose,
  };
}
