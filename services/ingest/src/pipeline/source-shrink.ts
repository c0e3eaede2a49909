/** The bound on what a source may lose against its last good version. */

import type { Manifest } from "@netfacts/snapshot";
import { type ReaderReport, SourceError } from "../readers/reader-report.ts";
import { anchorKind } from "../readers/vrp-list.ts";
import { mayRepeat, type SourceConfig, sectionOf } from "../sources/index.ts";
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
  const before = mayRepeat(source.format) ? null : acceptedBefore(source, previous);
  if (before !== null && accepted < before * (1 - source.shrinkMax))
    throw new SourceError(
      source.location,
      null,
      `has ${accepted} records, compared with ${before} in the last good version: it shrank by more than shrink_max (${source.shrinkMax}) allows`,
    );
  const then = kindsBefore(source, previous) ?? {};
  for (const [kind, count] of Object.entries(then)) {
    // RTR names no trust anchors: a source that changes to it has lost nothing by that.
    if (source.format === "rtr" && kind.startsWith(anchorKind)) continue;
    const has = kinds[kind] ?? 0;
    const max = source.kindShrinkMax;
    if (has < count * (1 - max) && count - has > kindLossFree)
      throw new SourceError(
        source.location,
        null,
        `has ${has} ${kind}, compared with ${count} in the last good version: ${count - has} are missing, more than kind_shrink_max (${max}) allows${newKinds(kinds, then)}; if that is meant, accept it for one run with --accept-shrink ${source.section}`,
      );
  }
}

const newKindsMax = 5;

/** The largest kinds that the last good version had not: what is missing may only have another name now. */
function newKinds(kinds: Readonly<Record<string, number>>, then: Readonly<Record<string, number>>): string {
  const added = Object.entries(kinds).filter(([kind, count]) => count > kindLossFree && !Object.hasOwn(then, kind));
  if (added.length === 0) return "";
  const largest = added.sort(([, a], [, b]) => b - a).slice(0, newKindsMax);
  return `; that version did not have ${largest.map(([kind, count]) => `the ${count} ${kind}`).join(", ")}`;
}
