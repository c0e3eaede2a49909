/** The record of `/status`: the sections in service, how fresh they are, and where they come from. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { records } from "../facts/units.ts";
import { freshnessFacts, Meta, ofSections } from "../meta.ts";
import { Count, member, NullableText, NullableTimestamp, record } from "../schema.ts";
import { freshness, sectionMembers } from "../sections.ts";

export const SourceStatus = record({
  name: member(Type.String(), "Name in the operator's list of sources."),
  as_of: member(NullableTimestamp, "Time of the data; null if the source could not be read."),
  fetched_at: member(NullableTimestamp, "Time at which the source was fetched; null if unknown."),
  accepted: member(Count, "Number of records imported."),
  skipped: member(Count, "Number of records skipped."),
  error: member(
    NullableText,
    "Why the data are not those of the last run: the source, its newest version, or the section was refused; null if they are.",
  ),
});
export type SourceStatus = Static<typeof SourceStatus>;

export const SectionStatus = record({
  ...freshness,
  counts: member(Type.Record(Type.String(), Count), "Number of records by kind, such as `ipv4` and `ipv6`."),
  sources: member(Type.Array(SourceStatus), "Sources of the section."),
});
export type SectionStatus = Static<typeof SectionStatus>;

export const StatusRecord = record({
  ready: member(Type.Boolean(), "Whether data are loaded and requests can be answered."),
  sections: member(record(sectionMembers(SectionStatus)), "Loaded sections. A section that was not imported is absent."),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type StatusRecord = Static<typeof StatusRecord>;

const sectionStatusFacts: FactsOf<SectionStatus> = {
  ...freshnessFacts,
  counts: { from: "snapshot", unit: records },
  sources: {
    name: "snapshot",
    as_of: "snapshot",
    fetched_at: "snapshot",
    accepted: { from: "snapshot", unit: records },
    skipped: { from: "snapshot", unit: records },
    error: { from: "snapshot", example: "the file ends in the middle of a record" },
  },
};

export const statusFacts: FactsOf<StatusRecord> = {
  ready: "service",
  sections: ofSections(() => sectionStatusFacts),
  meta: { page: "meta" },
};
