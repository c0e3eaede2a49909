/** `meta`, the last member of every record: who asked when, which data the answer used, and what to mind about it. */

import Type, { type Static } from "typebox";
import { Count, member, oneOf, record, Timestamp } from "./schema.ts";

/** The sections of a snapshot. */
export const sectionNames = ["routes", "vrps", "aspas", "allocations", "as_names", "profiles", "network_types", "locations"] as const;

export type SectionName = (typeof sectionNames)[number];

/** What each section tells, for documentation. */
export const sectionMeanings: Readonly<Record<SectionName, string>> = {
  routes: "Announced prefixes with their origins and visibility, from the tables of route collectors.",
  vrps: "Validated ROA payloads (RFC 6811).",
  aspas: "Validated ASPAs: the providers that each AS authorises.",
  allocations: "Address blocks and AS numbers that the registries have allocated or assigned, from their delegated statistics.",
  as_names: "Names of AS numbers.",
  profiles: "Organisations and websites of AS numbers.",
  network_types: "Network types, from profiles and from the operator's own list.",
  locations: "Locations of addresses, from the operator's own observations.",
};

/** How fresh one section is: of `meta`, and of the status. */
export const freshness = {
  version: member(Type.String(), "Version of the section; it changes whenever the content of the section changes."),
  as_of: member(Timestamp, "Time of the data: the time of the oldest source of the section."),
  age_seconds: member(Count, "Age of the data in seconds: from `as_of` to this response."),
  stale: member(
    Type.Boolean(),
    "Whether the data are out of date: older than twice the source's update interval plus one hour, or older than the limit set for the source.",
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
      ipv4: member(Count, "Number of full-feed peers for IPv4."),
      ipv6: member(Count, "Number of full-feed peers for IPv6."),
    }),
    "Number of peers that send a full table, by IP version. Visibility is a share of these.",
  ),
  collectors: member(Type.Array(Type.String()), "Route collectors whose tables are included."),
});
export type RoutesData = Static<typeof RoutesData>;

/** Warnings that stand for any section, by their ending. */
const sectionWarnings = {
  stale:
    "The section is out of date: older than twice its sources' update interval plus one hour, or older than the limit set for a source.",
  unavailable: "The section is unavailable. Values that depend on it are null.",
} as const;

const answerWarnings = {
  low_visibility: "Few full-feed peers see the match, or a longer prefix was ignored because too few peers see it.",
  bogon_announced:
    "An announcement that should not exist: address space that is not globally reachable or not allocated, or a special-purpose origin AS.",
  default_route_only: "Only a default route covers the address.",
  rpki_mixed: "Some origins of the prefix are RPKI-valid and others are RPKI-invalid.",
  updates_gap: "Some BGP updates that follow the imported table are missing.",
  sample_data: "The response comes from the sample dataset, which is old and incomplete.",
  truncated: "A list has more items than its limit.",
  snapshot_changed:
    "The snapshot that answered the first items of the batch was retired during the batch. Later items come from a newer snapshot.",
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
  code: member(oneOf(warningCodes), "Code of the warning. Its meaning never changes."),
  detail: member(Type.String(), "Explanation of the warning, with the values of this response."),
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
  generated_at: member(Timestamp, "Time at which the response was generated."),
  data: member(MetaData, "Sections that the response is based on. A section that is not needed or not available is absent."),
  warnings: member(Type.Array(Warning), "Warnings about this response; an empty list if there are none."),
});
export type Meta = Static<typeof Meta>;
