/** `meta`, the last member of every record: who asked when, which data the answer used, and what to mind about it. */

import Type, { type Static } from "typebox";
import { Count, member, oneOf, record, Timestamp } from "./schema.ts";

/** The sections of a snapshot. */
export const sectionNames = ["routes", "vrps", "aspas", "allocations", "as_names", "profiles", "network_types", "locations"] as const;

export type SectionName = (typeof sectionNames)[number];

/** What each section tells, for documentation. */
export const sectionMeanings: Readonly<Record<SectionName, string>> = {
  routes: "Announced prefixes with their origins and who sees them, from collectors' tables.",
  vrps: "Validated ROA payloads (RFC 6811).",
  aspas: "Validated ASPAs: the providers that an AS names.",
  allocations: "What the registries allocated and assigned, from their delegated statistics.",
  as_names: "Names of AS numbers.",
  profiles: "Organisations and websites of AS numbers.",
  network_types: "Kinds of networks, from profiles and the operator's own list.",
  locations: "Places of addresses, from the operator's own observations.",
};

/** How fresh one section is: of `meta`, and of the status. */
export const freshness = {
  version: member(Type.String(), "Which version of the section answered; it changes with the section's content."),
  as_of: member(Timestamp, "The moment that the data are of: that of the oldest source of the section."),
  age_seconds: member(Count, "Seconds from `as_of` to this answer."),
  stale: member(
    Type.Boolean(),
    "Whether the data are older than their sources promise: more than two intervals and an hour, or past a source's own bound.",
  ),
};

/** How fresh one section is. */
export const SectionData = record(freshness);
export type SectionData = Static<typeof SectionData>;

/** How fresh the routes are, and who saw them. */
export const RoutesData = record({
  ...freshness,
  peers_total: member(
    record({
      ipv4: member(Count, "Full-feed peers for IPv4."),
      ipv6: member(Count, "Full-feed peers for IPv6."),
    }),
    "Peers that carry a full table, by IP version: what visibility is measured against.",
  ),
  collectors: member(Type.Array(Type.String()), "The route collectors whose tables were read."),
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
  snapshot_changed:
    "The snapshot that answered the first questions of the batch was given up midway: later ones are answered from a newer one.",
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
export const Warning = record({
  code: member(oneOf(warningCodes), "What to mind; its meaning never changes."),
  detail: member(Type.String(), "The same in words, with the figures of this answer."),
});
export type Warning = Static<typeof Warning>;

/** `data` names each section that the answer used; a section that was not needed, or is not there, is absent. */
export const MetaData = record({
  allocations: Type.Optional(member(SectionData, sectionMeanings.allocations)),
  routes: Type.Optional(member(RoutesData, sectionMeanings.routes)),
  vrps: Type.Optional(member(SectionData, sectionMeanings.vrps)),
  aspas: Type.Optional(member(SectionData, sectionMeanings.aspas)),
  as_names: Type.Optional(member(SectionData, sectionMeanings.as_names)),
  profiles: Type.Optional(member(SectionData, sectionMeanings.profiles)),
  network_types: Type.Optional(member(SectionData, sectionMeanings.network_types)),
  locations: Type.Optional(member(SectionData, sectionMeanings.locations)),
});
export type MetaData = Static<typeof MetaData>;

export const Meta = record({
  request_id: member(Type.String(), "Id of the request, as in `X-Request-Id`."),
  generated_at: member(Timestamp, "When the answer was made."),
  data: member(MetaData, "The sections that the answer used; one that it did not need, or that is not there, is absent."),
  warnings: member(Type.Array(Warning), "What to mind about this answer; empty: nothing."),
});
export type Meta = Static<typeof Meta>;
