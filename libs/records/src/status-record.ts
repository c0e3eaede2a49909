/** The sections in service, their freshness, and their sources. */

import type { SectionStatus, StatusRecord } from "@netfacts/contracts";
import { sectionsOf } from "@netfacts/snapshot";
import { type AnswerNotes, sectionData } from "./answer.ts";

export function statusRecord(notes: AnswerNotes): Omit<StatusRecord, "meta"> {
  const { manifest } = notes.generation;
  const names = sectionsOf(manifest);
  notes.use(...names);
  const sections: { [S in (typeof names)[number]]?: SectionStatus } = {};
  for (const name of names) {
    const section = manifest.sections[name];
    if (section === undefined) continue;
    const { version, as_of, age_seconds, stale } = sectionData(name, section, notes.nowMs);
    sections[name] = {
      version,
      as_of,
      age_seconds,
      stale,
      counts: section.counts,
      sources: section.sources.map((source) => ({
        name: source.name,
        as_of: source.as_of,
        fetched_at: null,
        accepted: source.accepted,
        skipped: source.skipped,
        error: source.error,
      })),
    };
  }
  return { ready: true, sections };
}
