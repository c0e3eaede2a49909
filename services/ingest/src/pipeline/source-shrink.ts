/** The bound on what a source may lose against its last good version. */

import type { Manifest } from "@netfacts/snapshot";
import { type ReaderReport, SourceError } from "../readers/reader-report.ts";
import { type SourceConfig, sectionOf } from "../sources/index.ts";
import type { ListedSource } from "./listed-sources.ts";
import type { Run } from "./run.ts";

/** How many records the last good version of a source had; null where none is known. */
export function acceptedBefore(source: SourceConfig, previous: Manifest | null): number | null {
  const entry = previous?.sections[sectionOf(source)]?.sources.find(({ name }) => name === source.name);
  if (entry === undefined) return null;
  return entry.error === null ? entry.accepted : (entry.accepted_before ?? null);
}

/** How many records of each kind it had; null where none is known. */
export function kindsBefore(source: SourceConfig, previous: Manifest | null): Readonly<Record<string, number>> | null {
  return previous?.sections[sectionOf(source)]?.sources.find(({ name }) => name === source.name)?.kinds ?? null;
}

/** A kind that lost no more than this is no cut file: of few records a fifth comes and goes. */
const kindLossFree = 50;

/** Throws `SourceError` for a source that lost more of its records, or of one kind of them, than its bound allows, unless the run accepts that for its section. */
export function refuseShrunk({ acceptShrink, previous }: Run, source: ListedSource, { accepted, kinds = {} }: ReaderReport): void {
  if (acceptShrink.includes(source.section)) return;
  const before = acceptedBefore(source, previous);
  if (before !== null && accepted < before * (1 - source.shrinkMax))
    throw new SourceError(
      source.location,
      null,
      `has ${accepted} records, compared with ${before} in the last good version: it shrank by more than shrink_max (${source.shrinkMax}) allows`,
    );
  for (const [kind, count] of Object.entries(kindsBefore(source, previous) ?? {})) {
    const has = kinds[kind] ?? 0;
    const max = source.kindShrinkMax;
    if (has < count * (1 - max) && count - has > kindLossFree)
      throw new SourceError(
        source.location,
        null,
        `has ${has} ${kind}, compared with ${count} in the last good version: ${count - has} are missing, more than kind_shrink_max (${max}) allows`,
      );
  }
}
