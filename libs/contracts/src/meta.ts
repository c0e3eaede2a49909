/** `meta`, the last member of every record: the question, its time, the data that the answer used, and warnings. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "./facts/fact.ts";
import { peers, seconds } from "./facts/units.ts";
import { member, oneOf, record, Timestamp } from "./schema.ts";
import { dataMembers, type SectionData, type SectionName, sectionNames } from "./sections.ts";

/** Warnings that every section can have, by the ending of their code. */
const sectionWarnings = {
  stale:
    "The section is out of date: older than twice its sources' update interval plus one hour, or older than the limit set for a source.",
  unavailable: "The section is unavailable. Values that depend on it are null.",
} as const;

const answerWarnings = {
  low_visibility: "Few full-feed peers see the match, or a longer prefix was ignored because too few peers see it.",
  bogon_announced:
    "An announcement that should not exist: address space that is not globally reachable or not allocated, or a special-purpose origin AS.",
  default_route_only: "Only a default route covers the address, and no peer has a full table of its IP version.",
  rpki_mixed: "Some origins of the prefix are RPKI-valid and others are RPKI-invalid.",
  updates_gap: "Some BGP updates that follow the imported table are missing.",
  sample_data: "The response comes from the sample dataset, which is old and incomplete.",
  dns_stale: "The DNS answer has expired, and DNS gives no newer one.",
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

/** The meaning of each code, for documentation. The codes of sections appear once, as `<section>_…`. */
export const warningMeanings: Readonly<Record<string, string>> = {
  "<section>_stale": sectionWarnings.stale,
  "<section>_unavailable": sectionWarnings.unavailable,
  ...answerWarnings,
};

/** A fact about the answer that its reader should know. */
export const Warning = record({
  code: member(oneOf(warningCodes), "Code of the warning. Its meaning never changes."),
  detail: member(Type.String(), "Explanation of the warning, with the values of this response."),
});
export type Warning = Static<typeof Warning>;

/** `data` names each section that the answer used. Sections that were not needed or are not loaded are absent. */
export const MetaData = record(dataMembers());
export type MetaData = Static<typeof MetaData>;

/** The snapshot of an answer to `as_of`. */
export const MetaHistory = record({
  as_of: member(Timestamp, "Time that the response is about: `as_of` of the request, or the end of that day."),
  snapshot: member(Type.String(), "Id of the snapshot that the response is based on."),
  published_at: member(Timestamp, "Time at which this installation published the snapshot."),
});
export type MetaHistory = Static<typeof MetaHistory>;

export const Meta = record({
  request_id: member(Type.String(), "Id of the request, as in `X-Request-Id`."),
  generated_at: member(Timestamp, "Time at which the response was generated."),
  data: member(MetaData, "Sections that the response is based on. A section that is not needed or not available is absent."),
  history: Type.Optional(
    member(
      MetaHistory,
      "Only with `as_of`: the snapshot of the past that the response is based on. Ages and warnings are those of that time.",
    ),
  ),
  warnings: member(Type.Array(Warning), "Warnings about this response; an empty list if there are none."),
});
export type Meta = Static<typeof Meta>;

export const freshnessFacts: FactsOf<SectionData> = {
  version: "snapshot",
  as_of: "snapshot",
  age_seconds: { from: ["snapshot", "service"], unit: seconds },
  stale: ["snapshot", "service"],
};

/** One value for each section. */
export function ofSections<T>(make: (section: SectionName) => T): Readonly<Record<SectionName, T>> {
  return Object.fromEntries(sectionNames.map((section) => [section, make(section)])) as Record<SectionName, T>;
}

export const metaFacts: FactsOf<Meta> = {
  request_id: ["request", "gateway"],
  generated_at: "service",
  data: {
    ...ofSections(() => freshnessFacts),
    routes: {
      ...freshnessFacts,
      peers_total: { ipv4: { from: "routes", unit: peers }, ipv6: { from: "routes", unit: peers } },
      collectors: "routes",
    },
  },
  history: {
    as_of: { from: "request", example: "2026-11-20T23:59:59Z" },
    snapshot: { from: "snapshot", example: "20261120T080000Z-1a2b3c4d" },
    published_at: { from: "snapshot", example: "2026-11-20T08:04:10Z" },
  },
  warnings: {
    code: "service",
    detail: { from: "service", example: "seen by 1 of 355 peers" },
  },
};
