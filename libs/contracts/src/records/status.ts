/** The record of `/status`: the sections in service, how fresh they are, and where they come from. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { Count, NullableText, NullableTimestamp, record, Timestamp } from "../schema.ts";

export const SourceStatus = record({
  name: Type.String(),
  as_of: NullableTimestamp,
  fetched_at: NullableTimestamp,
  accepted: Count,
  skipped: Count,
  error: NullableText,
});
export type SourceStatus = Static<typeof SourceStatus>;

export const SectionStatus = record({
  version: Type.String(),
  as_of: Timestamp,
  age_seconds: Count,
  stale: Type.Boolean(),
  counts: Type.Record(Type.String(), Count),
  sources: Type.Array(SourceStatus),
});
export type SectionStatus = Static<typeof SectionStatus>;

export const StatusRecord = record({
  ready: Type.Boolean(),
  sections: record({
    routes: Type.Optional(SectionStatus),
    vrps: Type.Optional(SectionStatus),
    aspas: Type.Optional(SectionStatus),
    allocations: Type.Optional(SectionStatus),
    as_names: Type.Optional(SectionStatus),
    profiles: Type.Optional(SectionStatus),
    network_types: Type.Optional(SectionStatus),
    locations: Type.Optional(SectionStatus),
  }),
  meta: Meta,
});
export type StatusRecord = Static<typeof StatusRecord>;
