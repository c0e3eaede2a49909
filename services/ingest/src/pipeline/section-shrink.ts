/** The bound on what a section may lose against the last published snapshot (docs/decisions/0019-snapshots-are-checked-before-they-count.md). */

import type { Manifest, SectionEntry, SectionName } from "@netfacts/snapshot";
import { isStanding, type SourceConfig, type SourcesConfig } from "../sources/index.ts";

type Counts = SectionEntry["counts"];

/** The bound where none is set: the loosest of its sources, but for those that may lose what they like by their nature. */
function loosestOf(sources: readonly SourceConfig[], name: SectionName): number {
  const section = name === "aspas" ? "vrps" : name;
  const bounds = sources.flatMap((one) => (one.section === section && !isStanding(one.format) ? [one.shrinkMax] : []));
  return bounds.length === 0 ? 1 : Math.max(...bounds);
}

/** What of a section's counts is compared, each by itself. */
const compared: Record<SectionName, (counts: Counts) => Readonly<Record<string, number>>> = {
  routes: ({ ipv4 = 0, ipv6 = 0 }) => ({ "IPv4 prefixes": ipv4, "IPv6 prefixes": ipv6 }),
  // The operator's own exceptions are no loss.
  vrps: ({ vrps = 0, slurm_filtered: filtered = 0, slurm_asserted: asserted = 0 }) => ({ VRPs: vrps + filtered - asserted }),
  aspas: ({ customers = 0 }) => ({ ASPAs: customers }),
  allocations: ({ ipv4 = 0, ipv6 = 0, asn = 0 }) => ({ "IPv4 records": ipv4, "IPv6 records": ipv6, "AS number records": asn }),
  as_names: ({ names = 0 }) => ({ names }),
  profiles: ({ profiles = 0 }) => ({ profiles }),
  network_types: ({ prefixes = 0, asns = 0 }) => ({ prefixes, "AS numbers": asns }),
};

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

  /** Whether a section as it was built may take the place of the last one; notes in `refused` why not. */
  takes(name: SectionName, counts: Counts): boolean {
    const { config, previous, accepted } = this.#options;
    const before = previous?.sections[name];
    if (before === undefined || accepted.includes(name)) return true;
    const listed = new Map(config.sources.map((source) => [source.name, source]));
    // Who takes a source off the list, or whose data were given up (RFC 8210 §6), means them to go.
    if (before.sources.some(({ name: source }) => !listed.has(source) || listed.get(source)?.givenUp !== undefined)) return true;
    const max = config.sectionShrinkMax[name] ?? loosestOf(config.sources, name);
    const [now, then] = [compared[name](counts), compared[name](before.counts)];
    const lost = Object.entries(then).filter(([what, count]) => (now[what] ?? 0) < count * (1 - max));
    if (lost.length === 0) return true;
    const told = lost.map(([what, count]) => `${now[what] ?? 0} ${what} where the last snapshot has ${count}`).join(", ");
    this.refused.set(name, `has ${told}: shrunk by more than section_shrink_max (${max}) allows`);
    return false;
  }
}
