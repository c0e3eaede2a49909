/**
 * The bound on what a section may lose against the last published snapshot (docs/decisions/0019-snapshots-are-checked-before-they-count.md,
 * docs/decisions/0084-lines-that-operators-take-out-are-no-loss.md).
 */

import type { Manifest, SectionEntry, SectionName, SourceEntry } from "@netfacts/snapshot";
import { sectionKinds } from "../section-kinds/index.ts";
import { isStanding, type SourceConfig, type SourcesConfig, storedFormat } from "../sources/index.ts";

type Counts = SectionEntry["counts"];

/** The bound where none is set: the loosest of its sources, but for those that may lose what they like by their nature. */
function loosestOf(sources: readonly SourceConfig[], name: SectionName): number {
  const section = sectionKinds[name].listedFor ?? name;
  const bounds = sources.flatMap((one) => (one.section === section && !isStanding(one.format) ? [one.shrinkMax] : []));
  return bounds.length === 0 ? 1 : Math.max(...bounds);
}

/** Records that lists which the operator writes have no longer: whoever takes a line out means it to go. */
function takenOut(name: SectionName, before: readonly SourceEntry[], now: readonly SourceEntry[]): number {
  // The counts that are compared have all VRPs that exceptions take out, and none that they add.
  if (name === "vrps") return 0;
  const had = new Map(before.map((entry) => [entry.name, entry.accepted]));
  const read = now.filter(({ format, error }) => isStanding(format) && error === null);
  return read.reduce((sum, entry) => sum + Math.max(0, (had.get(entry.name) ?? 0) - entry.accepted), 0);
}

export interface SectionShrinkOptions {
  readonly config: Pick<SourcesConfig, "sources" | "sectionShrinkMax">;
  /** Null: there is nothing to compare with. */
  readonly previous: Pick<Manifest, "sections"> | null;
  /** Sections that may lose what they like this time. */
  readonly accepted: readonly SectionName[];
}

/** Of one run. */
export class SectionShrink {
  /** Sections that were built and not taken, with what they had lost. */
  readonly refused = new Map<SectionName, string>();
  readonly #options: SectionShrinkOptions;

  constructor(options: SectionShrinkOptions) {
    this.#options = options;
  }

  /**
   * Whether a section as it was built of these sources may take the place of the last one; notes in `refused` why not.
   *
   * @param mayLeave  whether a source that left the list means that its data go. Default: true.
   */
  takes(name: SectionName, counts: Counts, sources: readonly SourceEntry[], mayLeave = true): boolean {
    const { config, previous, accepted } = this.#options;
    const before = previous?.sections[name];
    if (before === undefined || accepted.includes(name)) return true;
    const listed = new Map(config.sources.map((source) => [source.name, source]));
    // Who takes a source off the list, or whose data were given up (RFC 8210 §6), means them to go. Given-up data go only once.
    const leaves = ({ name: source, sha256 }: SourceEntry) =>
      !listed.has(source) || (listed.get(source)?.givenUp !== undefined && sha256 !== "");
    if (mayLeave && before.sources.some(leaves)) return true;
    // Rows that were deleted must not stay because they were many.
    if (config.sources.some(({ section, format }) => section === name && format === storedFormat)) return true;
    const max = config.sectionShrinkMax[name] ?? loosestOf(config.sources, name);
    const { compared } = sectionKinds[name];
    const [now, then] = [compared(counts), compared(before.counts)];
    const meant = takenOut(name, before.sources, sources);
    const lost = Object.entries(then).filter(([what, count]) => (now[what] ?? 0) < (count - meant) * (1 - max));
    if (lost.length === 0) return true;
    const told = lost.map(([what, count]) => `${now[what] ?? 0} ${what}, compared with ${count} in the last snapshot`).join(", ");
    this.refused.set(name, `has ${told}: it shrank by more than section_shrink_max (${max}) allows`);
    return false;
  }
}
