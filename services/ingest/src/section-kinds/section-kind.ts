/** What a run knows of a section: how it is built from its inputs, when it shrank too much, and what it is asked before it is published. */

import type { Generation, Manifest, RoutesColumns, RouteTable, SectionEntry } from "@netfacts/snapshot";
import type { LastHistory } from "../pipeline/last-history.ts";
import type { RibReading } from "../pipeline/rib-readers.ts";
import type { TableInputs } from "../pipeline/table-readers.ts";
import type { SourceConfig, SourcesConfig } from "../sources/index.ts";
import type { StatedAs } from "../statements/stated.ts";
import type { CollectorSample } from "../verify/check-routes.ts";
import type { TableSamples } from "../verify/table-samples.ts";

export type Counts = SectionEntry["counts"];

/** A section's object, not stored yet. */
export interface SectionDraft {
  readonly pieces: readonly Uint8Array[];
  readonly counts: Counts;
  /** What else its entry of the manifest says. */
  readonly entry?: Pick<SectionEntry, "peers_total" | "collectors" | "match_peers_min" | "updates_gaps">;
  /** Unix seconds at which the first of its records expires; null: none does. From then on the section is stale. */
  readonly firstExpiry?: number | null;
  /** Objects that only ingest reads. */
  readonly ingestObjects?: Manifest["ingest_objects"];
  /** What an operator should know of how it was built. */
  readonly notes?: readonly string[];
  /** Of routes: what VRPs are compared with. */
  readonly routes?: RoutesColumns;
}

/** What a section may be built from when every source was read. */
export interface BuildContext {
  readonly config: SourcesConfig;
  readonly tables: TableInputs;
  /** By collector. */
  readonly ribs: Map<string, RibReading>;
  /** Stores an object. */
  readonly put: (pieces: readonly Uint8Array[]) => Promise<Manifest["ingest_objects"][string]>;
  /** History of all tables before; is asked when a RIB was read. */
  readonly readHistory: () => Promise<LastHistory>;
  /** The routes of this snapshot: those just built, or else the last ones. */
  readonly routes: () => Promise<RouteTable | null>;
}

/** What a built section is asked with. */
export interface CheckContext {
  readonly collectors: readonly CollectorSample[];
  readonly samples: TableSamples;
  /** For the samples of `SampledRecords`; the records are gone by now. */
  readonly tables: TableInputs;
  readonly upstreamsMax: number;
}

interface AnySection {
  /** The counts whose loss is bounded, each by itself, by the words that tell it. */
  compared(counts: Counts): Readonly<Record<string, number>>;
  /** The section that its sources are listed for; absent: itself. */
  readonly listedFor?: SourceConfig["section"];
  /** Its version, from `as_of` in RFC 3339. */
  version(asOf: string): string;
  /**
   * Asks the section for what its sources were seen to say; 0 where the snapshot does not have it.
   *
   * @returns how many records were asked for. Throws `WrongAnswerError`.
   */
  check(generation: Generation, context: CheckContext): number;
}

/**
 * A section that needs no other one: it is built as soon as the last of its sources was read, and lets go of its inputs then. These are
 * objects, many times the size of what is built from them.
 */
export interface IndependentSection extends AnySection {
  /** @returns null where its sources said nothing of it. */
  draft(inputs: TableInputs): SectionDraft | null;
  /** What the sources say of each AS, for operators; asked for before `draft`, if at all. Absent: they describe no ASes. */
  stated?(inputs: TableInputs): Iterable<StatedAs>;
}

/** A section that is built when every source was read, and lets go of its inputs then. */
export interface JoiningSection extends AnySection {
  build(context: BuildContext): Promise<SectionDraft>;
}

export type SectionKind = IndependentSection | JoiningSection;

/** A version by the day. */
export function dayVersion(asOf: string): string {
  return asOf.slice(0, 10);
}

/** A version by the second: `20261121T090002Z`. */
export function secondVersion(asOf: string): string {
  return asOf.replace(/[-:]/g, "");
}

/** The first of the times at which records expire, in Unix seconds; 0 stands for none, and null is answered where all are. */
export function firstExpiryOf(expiresAt: Uint32Array): number | null {
  let first = Number.POSITIVE_INFINITY;
  for (const time of expiresAt) if (time !== 0 && time < first) first = time;
  return first === Number.POSITIVE_INFINITY ? null : first;
}
