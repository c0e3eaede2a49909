/** The record of `/status`: the sections in service, how fresh they are, and where they come from. */

import Type, { type Static } from "typebox";
import { freshness, Meta, sectionMeanings } from "../meta.ts";
import { Count, member, NullableText, NullableTimestamp, record } from "../schema.ts";

export const SourceStatus = record({
  name: member(Type.String(), "Name in the operator's list of sources."),
  as_of: member(NullableTimestamp, "The moment that its data are of; null where it could not be read."),
  fetched_at: member(NullableTimestamp, "When it was fetched; null where that is not known."),
  accepted: member(Count, "Records that were taken over."),
  skipped: member(Count, "Records that were left out."),
  error: member(NullableText, "Why it could not be read, or its newest version could not; null where it could."),
});
export type SourceStatus = Static<typeof SourceStatus>;

export const SectionStatus = record({
  ...freshness,
  counts: member(Type.Record(Type.String(), Count), "Records by kind, such as `ipv4` and `ipv6`."),
  sources: member(Type.Array(SourceStatus), "What the section was made of."),
});
export type SectionStatus = Static<typeof SectionStatus>;

export const StatusRecord = record({
  ready: member(Type.Boolean(), "Whether data are loaded, so that questions are answered."),
  sections: member(
    record({
      routes: Type.Optional(member(SectionStatus, sectionMeanings.routes)),
      vrps: Type.Optional(member(SectionStatus, sectionMeanings.vrps)),
      aspas: Type.Optional(member(SectionStatus, sectionMeanings.aspas)),
      allocations: Type.Optional(member(SectionStatus, sectionMeanings.allocations)),
      as_names: Type.Optional(member(SectionStatus, sectionMeanings.as_names)),
      profiles: Type.Optional(member(SectionStatus, sectionMeanings.profiles)),
      network_types: Type.Optional(member(SectionStatus, sectionMeanings.network_types)),
      locations: Type.Optional(member(SectionStatus, sectionMeanings.locations)),
    }),
    "The sections in service; one that is not imported is absent.",
  ),
  meta: member(Meta, "Who asked when, which data answered, and what to mind."),
});
export type StatusRecord = Static<typeof StatusRecord>;
