/** One run of ingest: its options, and what all of its steps share. */

import { type Manifest, NewerManifestError, type SectionName, type SnapshotStore, SnapshotUnavailableError } from "@netfacts/snapshot";
import type { ObservationRepository } from "@netfacts/storage";
import type { SourcesConfig } from "../sources/index.ts";
import type { StatementFiles } from "../statements/statement-files.ts";
import { isRibSource, type ListedSource, listedSources } from "./listed-sources.ts";
import type { OngoingReport } from "./ongoing-report.ts";
import type { ProgressListener } from "./progress.ts";
import type { PublishTurn } from "./publish-turn.ts";
import { RibReaders } from "./rib-readers.ts";
import { SectionShrink } from "./section-shrink.ts";

export interface RunOptions {
  readonly config: SourcesConfig;
  readonly store: SnapshotStore;
  readonly onProgress?: ProgressListener;
  /** Ends the run within a moment; nothing is published then. */
  readonly signal?: AbortSignal;
  /** Awaited before the pointer moves; a rejection ends the run, and nothing is published. Undefined: no other run is in progress. */
  beforePublish?(): Promise<PublishTurn | undefined>;
  /** Sections for which no loss is refused: against the last snapshot, or of their sources against the last good versions. */
  readonly acceptShrink?: readonly SectionName[];
  /** Where stored observations are; absent: none are read. */
  readonly observations?: ObservationRepository | undefined;
  /** Takes what sources say of ASes, for operators; absent: it is discarded. */
  readonly statements?: StatementFiles;
  /** A run of small sections that somebody waits for: sections that it keeps are not read again to verify them, since they are in service. */
  readonly isBeside?: boolean;
  /** Size of a stored RIB from which on a thread of its own reads it; default 1 MiB. */
  readonly ribThreadBytesMin?: number;
}

/** The state that all steps of a run share. Only the report grows; nothing else changes. */
export interface Run extends Required<Pick<RunOptions, "config" | "store" | "onProgress" | "signal" | "acceptShrink">> {
  readonly observations: ObservationRepository | undefined;
  readonly statements: StatementFiles | null;
  readonly isBeside: boolean;
  /** The sources, as they are read. */
  readonly listed: readonly ListedSource[];
  /** Reads the large RIBs already. Stop it when the run ends. */
  readonly ribReaders: RibReaders;
  /** Id of the snapshot that was current when the run began; null: there was none. Only this one may be replaced. */
  readonly replaces: string | null;
  /** Its manifest; null: there is none, or it is damaged. */
  readonly previous: Manifest | null;
  readonly shrink: SectionShrink;
  readonly report: OngoingReport;
}

/** @throws the reason of `signal`, and what reading the current manifest throws */
export async function beginRun(options: RunOptions, report: OngoingReport): Promise<Run> {
  const { config, store, onProgress = () => {}, acceptShrink = [], observations, ribThreadBytesMin: threadBytesMin } = options;
  const { statements = null, isBeside = false } = options;
  const signal = options.signal ?? new AbortController().signal;
  signal.throwIfAborted();
  const replaces = await store.currentId();
  const previous = await lastManifest(store, replaces);
  const shrink = new SectionShrink({ config, previous, accepted: acceptShrink });
  const listed = listedSources(config.sources);
  const ribReaders = new RibReaders(listed.filter(isRibSource), { onProgress, signal, threadBytesMin });
  return {
    config,
    store,
    onProgress,
    signal,
    acceptShrink,
    observations,
    statements,
    isBeside,
    listed,
    ribReaders,
    replaces,
    previous,
    shrink,
    report,
  };
}

/**
 * The current manifest; a damaged one counts as none, since this run is about to replace it.
 *
 * @throws SnapshotUnavailableError, or SnapshotError for a manifest of a newer program. Such a manifest may be good, so that the run must not go on without it.
 */
async function lastManifest(store: SnapshotStore, id: string | null): Promise<Manifest | null> {
  if (id === null) return null;
  return store.getManifest(id).catch((error: unknown) => {
    if (error instanceof SnapshotUnavailableError || (error as Error).cause instanceof NewerManifestError) throw error;
    return null;
  });
}
