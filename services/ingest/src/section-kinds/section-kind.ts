/**
 * The rules of a section for a run: how it is built from its inputs, which counts must not shrink too much, and how it is checked before it is
 * published.
 */

import type { Generation, Manifest, RoutesColumns, RouteTable, SectionEntry } from "@netfacts/snapshot";
import type { LastHistory } from "../pipeline/last-history.ts";
import type { RibReading } from "../pipeline/rib-readers.ts";
import type { TableInputs } from "../pipeline/table-readers.ts";
import type { SourceConfig, SourcesConfig } from "../sources/index.ts";
import type { StatedAs } from "../statements/stated.ts";
import type { CollectorSample } from "../verify/check-routes.ts";
import type { TableSamples } from "../verify/table-samples.ts";

export type Counts = SectionEntry["counts"];

/** The object of a section before it is stored. */
export interface SectionDraft {
  readonly pieces: readonly Uint8Array[];
  readonly counts: Counts;
  /** Further members of its entry in the manifest. */
  readonly entry?: Pick<SectionEntry, "peers_total" | "collectors" | "match_peers_min" | "updates_gaps">;
  /** Unix seconds at which it becomes stale because its records expire; null: never. */
  readonly expiresAt?: number | null;
  /** Objects that only ingest reads. */
  readonly ingestObjects?: Manifest["ingest_objects"];
  /** Notes for the operator on how the section was built. */
  readonly notes?: readonly string[];
  /** For section `routes`: its columns, which VRPs are compared with. */
  readonly routes?: RoutesColumns;
}

/** The inputs of a section that is built after all sources were read. */
export interface BuildContext {
  readonly config: SourcesConfig;
  readonly tables: TableInputs;
  /** By collector. */
  readonly ribs: Map<string, RibReading>;
  /** Stores an object. */
  readonly put: (pieces: readonly Uint8Array[]) => Promise<Manifest["ingest_objects"][string]>;
  /** Reads the history of all earlier tables; called after a RIB was read. */
  readonly readHistory: () => Promise<LastHistory>;
  /** The routes of this snapshot: those that were just built, otherwise the previous ones. */
  readonly routes: () => Promise<RouteTable | null>;
}

/** The samples that a built section is compared with. */
export interface CheckContext {
  readonly collectors: readonly CollectorSample[];
  readonly samples: TableSamples;
  /** For the samples of `SampledRecords`; the records were taken before. */
  readonly tables: TableInputs;
  readonly upstreamsMax: number;
}

interface AnySection {
  /** The counts that must not shrink too much, each by the name that messages use for it. */
  compared(counts: Counts): Readonly<Record<string, number>>;
  /** The section that its sources are listed for. Default: the section itself. */
  readonly listedFor?: SourceConfig["section"];
  /** The version of the section, from `as_of` in RFC 3339. */
  version(asOf: string): string;
  /**
   * Compares the section with samples of its sources; 0 if the snapshot does not have it.
   *
   * @returns the number of records that were compared.
   * @throws WrongAnswerError
   */
  check(generation: Generation, context: CheckContext): number;
}

/**
 * A section that needs no other one. It is built, and its inputs are dropped, as soon as its last source was read: inputs are objects, and take many
 * times the memory of the result.
 */
export interface IndependentSection extends AnySection {
  /** @returns null if its sources have nothing for it */
  draft(inputs: TableInputs): SectionDraft | null;
  /** The statements of sources about each AS, for operators; call it before `draft`. Absent: the sources do not describe ASes. */
  stated?(inputs: TableInputs): Iterable<StatedAs>;
}

/** A section that is built, and whose inputs are dropped, when every source was read. */
export interface JoiningSection extends AnySection {
  build(context: BuildContext): Promise<SectionDraft>;
}

export type SectionKind = IndependentSection | JoiningSection;

/** A version with the precision of a day. */
export function dayVersion(asOf: string): string {
  return asOf.slice(0, 10);
}

/** A version with the precision of a second: `20261121T090002Z`. */
export function secondVersion(asOf: string): string {
  return asOf.replace(/[-:]/g, "");
}

/**
 * Share of expired records up to which a section is not stale. Authorities renew their records shortly before these expire, so that some of a whole
 * export expire within the hour (docs/decisions/0094-a-few-expired-vrps-make-no-section-stale.md).
 */
const expiredShareMax = 0.01;

/**
 * When a section becomes stale because its records expire: the Unix time at which more than 1 % of them have expired; null: never.
 *
 * @param expiresAt  Unix seconds; 0 means that a record does not expire.
 */
export function expiryOf(expiresAt: Uint32Array): number | null {
  const times = expiresAt.filter((time) => time !== 0).sort();
  return times[Math.floor(expiresAt.length * expiredShareMax)] ?? null;
}
