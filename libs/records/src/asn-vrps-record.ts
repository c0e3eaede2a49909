/** The record of the VRPs of one AS, and which of them its announcements use. */

import type { AsnVrp, AsnVrpsQuestion, AsnVrpsRecord } from "@netfacts/contracts";
import type { VrpSet } from "@netfacts/rpki";
import { type Generation, searchAscending } from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";
import { announcedOf } from "./route-parts.ts";
import { vrpRecord } from "./validation-parts.ts";

/** The VRPs of an AS, in columns: an AS may have tens of thousands. */
interface VrpUse {
  readonly vrps: VrpSet;
  /** Ascending. */
  readonly numbers: Uint32Array;
  /** By VRP: announced prefixes that it authorises; null where that is unknown. */
  readonly announced: readonly (number | null)[];
}

export function asnVrpsRecord(question: AsnVrpsQuestion, notes: AnswerNotes): Omit<AsnVrpsRecord, "meta"> {
  const { generation } = notes;
  const { asn } = question;
  notes.use("vrps", "routes", "as_names");
  const use = useOf(generation, asn);
  return {
    asn,
    name: generation.names?.lookupName(asn) ?? null,
    counts: use === null ? null : countsOf(generation, use),
    vrps: listOf(question, notes, use),
  };
}

function useOf(generation: Generation, asn: number): VrpUse | null {
  const { vrps, vrpCountByAs, routes } = generation;
  if (vrps === null || vrpCountByAs === null) return null;
  const at = searchAscending(vrpCountByAs.asn, asn);
  const numbers = vrps.numbersOf(asn, at < 0 ? 0 : (vrpCountByAs.count[at] as number));
  // A VRP of AS 0 authorises nothing (RFC 7607), so that no announcement is missing.
  if (asn === 0 || routes === null) return { vrps, numbers, announced: Array.from(numbers, () => null) };
  const uses = new Map<number, number>();
  if (numbers.length > 0)
    for (const entry of routes.originatedBy(asn).entry)
      for (const vrp of vrps.matching(routes.prefixes.prefixAt(entry), asn)) uses.set(vrp, (uses.get(vrp) ?? 0) + 1);
  const none = { 4: announcedOf(generation, 4) === null ? null : 0, 6: announcedOf(generation, 6) === null ? null : 0 };
  return { vrps, numbers, announced: Array.from(numbers, (vrp) => uses.get(vrp) ?? none[vrp < vrps.ipv4Size ? 4 : 6]) };
}

function countsOf({ routes }: Generation, { vrps, numbers, announced }: VrpUse): AsnVrpsRecord["counts"] {
  return {
    vrps: numbers.length,
    unannounced: announced.includes(null) ? null : announced.filter((count) => count === 0).length,
    max_length_loose: routes === null ? null : numbers.reduce((sum, vrp) => sum + (vrps.columns.loose[vrp] as number), 0),
  };
}

function listOf(question: AsnVrpsQuestion, notes: AnswerNotes, use: VrpUse | null): AsnVrpsRecord["vrps"] {
  const { limit } = question;
  if (use === null) return { items: [], total: null, limit, next_cursor: null };
  const chosen = chosenOf(question, use);
  const start = notes.start("vrps");
  const items = chosen.slice(start, start + limit).map((place) => itemOf(notes.generation, use, place));
  return { items, total: chosen.length, limit, next_cursor: notes.nextCursor("asn_vrps", question, "vrps", items.length, chosen.length) };
}

/** Places in `numbers`. */
function chosenOf({ family, announced }: AsnVrpsQuestion, { vrps, numbers, announced: counts }: VrpUse): number[] {
  const places: number[] = [];
  for (const [place, vrp] of numbers.entries()) {
    if (family !== null && family !== (vrp < vrps.ipv4Size ? 4 : 6)) continue;
    const count = counts[place] as number | null;
    if (announced !== null && (count === null || count > 0 !== announced)) continue;
    places.push(place);
  }
  return places;
}

function itemOf({ routes }: Generation, { vrps, numbers, announced }: VrpUse, place: number): AsnVrp {
  const vrp = vrps.vrpAt(numbers[place] as number);
  return {
    ...vrpRecord(vrp),
    announced_prefixes: announced[place] as number | null,
    max_length_loose: routes === null ? null : vrp.loose,
  };
}
