/** Origin validation in the form of records: state, reason, lists, description and notes. */

import type { Prefix } from "@netfacts/address";
import { formatPrefix } from "@netfacts/address";
import type { OriginValidation, RpkiNote, RpkiState, VrpItem } from "@netfacts/contracts";
import { stateWords, type Validity, type Vrp, validateOrigin } from "@netfacts/rpki";
import { type Generation, secondsTimestamp } from "@netfacts/snapshot";
import type { AnswerNotes } from "./answer.ts";

/**
 * A VRP that expires within this time after the section's `as_of` gets the note `expires_soon`. With the default interval, data may be this old before the
 * next version is in service. Half of all VRPs expire within a day (docs/design/semantics.md#rpki).
 */
const expiresSoonSeconds = 2 * 3600;

/**
 * Most covering VRPs that a verdict, or `covering` of a prefix, shows: four times as many as cover any prefix in real data. The holder of a prefix
 * can sign any number of VRPs for it, which would make every answer about it as long.
 */
export const vrpsShownMax = 1_000;

const descriptions = {
  valid: "At least one VRP that covers the prefix names this origin AS and allows this length.",
  as: "VRPs cover the prefix, but none of those that allow its length names this origin AS.",
  length: "Every VRP that covers the prefix allows shorter prefixes only.",
  asSet: "The path ends in an AS_SET, which no VRP can match, and VRPs cover the prefix.",
  notFound: "No VRP covers the prefix.",
} as const;

/** A VRP in the form of records. */
export function vrpRecord(vrp: Vrp): VrpItem {
  return {
    asn: vrp.asn,
    prefix: formatPrefix(vrp.prefix),
    max_length: vrp.maxLength,
    ta: vrp.ta,
    expires_at: secondsTimestamp(vrp.expiresAt),
  };
}

/** Warns that a list leaves out covering VRPs, if there are too many. `list` is the member with the list. */
export function warnAboutVrps(notes: AnswerNotes, list: string, covering: number | null, vrpsMax = vrpsShownMax): void {
  if (covering !== null && covering > vrpsMax)
    notes.warnTruncated(list, `${list} shows ${vrpsMax} of the ${covering} VRPs that cover the prefix`);
}

/** The validation if no VRPs are imported. */
export function unknownValidation(): OriginValidation {
  return { state: null, reason: null, description: null, vrps: { matched: [], unmatched_as: [], unmatched_length: [] }, notes: [] };
}

/**
 * Validates one route and explains the verdict.
 *
 * @param origin  the AS number; null for an AS_SET or an unknown origin, which no VRP can match.
 * @param asSet   whether the path ends in an AS_SET.
 * @param vrpsMax most VRPs that are shown: matching ones first.
 */
export function validationRecord(
  notes: AnswerNotes,
  prefix: Prefix,
  origin: number | null,
  asSet: boolean,
  vrpsMax = vrpsShownMax,
): OriginValidation {
  const { generation } = notes;
  if (generation.vrps === null) return unknownValidation();
  const validity = validateOrigin(generation.vrps, prefix, origin);
  let left = vrpsMax;
  const shown = (vrps: readonly Vrp[]) => {
    const some = vrps.slice(0, left);
    left -= some.length;
    return some.map(vrpRecord);
  };
  return {
    state: validity.state,
    reason: validity.reason,
    description: describe(validity, asSet),
    vrps: {
      matched: shown(validity.matched),
      unmatched_as: shown(validity.unmatchedAs),
      unmatched_length: shown(validity.unmatchedLength),
    },
    notes: notesOf(validity, origin, asSet, notes, asOfSeconds(generation)),
  };
}

/** The state only; null: no VRPs are imported. */
export function validationState(
  generation: Generation,
  prefix: Prefix,
  origin: number | null,
): { state: RpkiState | null; reason: "as" | "length" | null } {
  if (generation.vrps === null) return { state: null, reason: null };
  return stateWords(generation.vrps.originState(prefix, origin));
}

function asOfSeconds(generation: Generation): number {
  const section = generation.manifest.sections.vrps;
  return section === undefined ? 0 : Date.parse(section.as_of) / 1000;
}

function describe({ state, reason }: Validity, asSet: boolean): string {
  if (state === "valid") return descriptions.valid;
  if (state === "not-found") return descriptions.notFound;
  return asSet ? descriptions.asSet : descriptions[reason ?? "as"];
}

function notesOf(validity: Validity, origin: number | null, asSet: boolean, answer: AnswerNotes, asOf: number): RpkiNote[] {
  const { matched, unmatchedAs, unmatchedLength } = validity;
  const notes: RpkiNote[] = [];
  const covering = [...matched, ...unmatchedAs, ...unmatchedLength];
  if (validity.state === "invalid" && !asSet && !covering.some((vrp) => vrp.asn === origin && vrp.asn !== 0))
    notes.push("no_vrp_for_origin");
  if (covering.length > 0 && covering.every((vrp) => vrp.asn === 0)) notes.push("only_as0_covers");
  // The VRPs that the verdict depends on: the matching ones for a valid route, every covering one for an invalid route.
  const basis = validity.state === "valid" ? matched : covering;
  const expiresAt = basis.reduce((first, vrp) => Math.min(first, vrp.expiresAt ?? first), Number.POSITIVE_INFINITY);
  answer.changesAt(expiresAt);
  if (expiresAt < answer.nowMs / 1_000) notes.push("expired");
  else if (expiresAt <= asOf + expiresSoonSeconds) notes.push("expires_soon");
  if (asSet) notes.push("as_set");
  if (matched.some((vrp) => vrp.loose)) notes.push("max_length_loose");
  return notes;
}
