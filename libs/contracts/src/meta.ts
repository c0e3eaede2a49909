/** `meta`, the last member of every record: who asked when, which data the answer used, and what to mind about it. */

import Type, { type Static } from "typebox";
import { Count, oneOf, record, Timestamp } from "./schema.ts";

/** The sections of a snapshot. */
export const sectionNames = ["routes", "vrps", "aspas", "allocations", "as_names", "profiles", "network_types", "locations"] as const;

export type SectionName = (typeof sectionNames)[number];

const freshness = { version: Type.String(), as_of: Timestamp, age_seconds: Count, stale: Type.Boolean() };

/** How fresh one section is. */
export const SectionData = record(freshness);
export type SectionData = Static<typeof SectionData>;

/** How fresh the routes are, and who saw them. */
export const RoutesData = record({
  ...freshness,
  peers_total: record({ ipv4: Count, ipv6: Count }),
  collectors: Type.Array(Type.String()),
});
export type RoutesData = Static<typeof RoutesData>;

/** Warnings that stand for any section, by their ending. */
const sectionWarnings = {
  stale: "The section is older than its sources promise: more than two of their intervals and an hour, or past their own bound.",
  unavailable: "The section could not be used: what the answer would tell from it is null, not absent.",
} as const;

const answerWarnings = {
  low_visibility: "Few full-feed peers see the match, or a longer prefix that fewer see was passed over.",
  bogon_announced:
    "Something is announced that should not be: space that is not globally reachable or not allocated, or a special-purpose origin AS.",
  default_route_only: "Only a default route covers the address.",
  rpki_mixed: "Some origins of the prefix are RPKI-valid and some invalid.",
  updates_gap: "Updates between the table and what followed it are missing.",
  sample_data: "The answer comes from the sample dataset, which is old and partial.",
  truncated: "A list has more items than its limit.",
} as const;

export type WarningCode = keyof typeof answerWarnings | `${SectionName}_${keyof typeof sectionWarnings}`;

/** Every code of a warning. */
export const warningCodes: readonly WarningCode[] = [
  ...sectionNames.flatMap((section) => [`${section}_stale` as const, `${section}_unavailable` as const]),
  ...(Object.keys(answerWarnings) as (keyof typeof answerWarnings)[]),
];

/** What each code means, for documentation; the codes of sections stand once, as `<section>_…`. */
export const warningMeanings: Readonly<Record<string, string>> = {
  "<section>_stale": sectionWarnings.stale,
  "<section>_unavailable": sectionWarnings.unavailable,
  ...answerWarnings,
};

/** Something true about the answer that its reader should mind. */
export const Warning = record({ code: oneOf(warningCodes), detail: Type.String() });
export type Warning = Static<typeof Warning>;

/** `data` names each section that the answer used; a section that was not needed, or is not there, is absent. */
export const MetaData = record({
  allocations: Type.Optional(SectionData),
  routes: Type.Optional(RoutesData),
  vrps: Type.Optional(SectionData),
  aspas: Type.Optional(SectionData),
  as_names: Type.Optional(SectionData),
  profiles: Type.Optional(SectionData),
  network_types: Type.Optional(SectionData),
  locations: Type.Optional(SectionData),
});
export type MetaData = Static<typeof MetaData>;

export const Meta = record({ request_id: Type.String(), generated_at: Timestamp, data: MetaData, warnings: Type.Array(Warning) });
export type Meta = Static<typeof Meta>;
