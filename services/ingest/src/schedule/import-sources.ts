/** One import from the command line or at a start: fetches the sources that have a URL, and runs over all sources. */

import type { SectionName, SnapshotStore } from "@netfacts/snapshot";
import type { StatementRepository } from "@netfacts/storage";
import { fetchContext, loadFetchConfig } from "../fetch/config.ts";
import type { FetchConfig } from "../fetch/config-schema.ts";
import { withFiles } from "../fetch/ready-files.ts";
import type { ProgressListener } from "../pipeline/progress.ts";
import { IngestError, runIngest } from "../pipeline/run-ingest.ts";
import type { RunReport } from "../pipeline/run-report.ts";
import type { SourcesConfig } from "../sources/index.ts";
import { keepStatements } from "../statements/keep-statements.ts";
import { StatementFiles, statementsIn } from "../statements/statement-files.ts";
import { type ObservationSource, openObservations } from "../uploads/open-observations.ts";
import { storedNow, withStored } from "../uploads/stored-source.ts";
import { openStock } from "./lead.ts";
import { lockRuns } from "./lock-runs.ts";
import { SourcesAwayError, unbegunReport, wholeScope } from "./run-scope.ts";

export interface ImportOptions {
  readonly config: SourcesConfig;
  readonly store: SnapshotStore;
  /** Folder of downloads and of the schedule's state. */
  readonly stateFolder: string;
  /** Default: from the environment. */
  readonly fetching?: FetchConfig;
  readonly onProgress?: ProgressListener;
  readonly signal?: AbortSignal;
  /** How stored observations are opened; absent: there are none. */
  readonly observations?: ObservationSource | undefined;
  /** Keeps what sources say of ASes, for operators; absent: it stays in the state folder. */
  readonly statements?: StatementRepository;
  /** Sections that may shrink this time. */
  readonly acceptShrink?: readonly SectionName[];
  /** Called when no other import uses the folder, and before anything is read. A rejection ends the import. */
  onBegin?(): Promise<void>;
  /** Receives notes for the user: a source that is unavailable, another import that this one waits for. */
  onNote?(text: string): void;
}

interface NoteFields {
  readonly source?: string;
  readonly reason?: string;
  /** A required source: the run ends if it is unavailable. */
  readonly required?: boolean;
}

/**
 * Waits while another import uses the folder.
 *
 * @throws as `runIngest`; also IngestError when a required source cannot be fetched, or when it was stopped
 */
export async function importSources(options: ImportOptions): Promise<RunReport> {
  const { config, store, stateFolder, acceptShrink = [], onProgress = () => undefined, onNote = () => undefined } = options;
  const signal = options.signal ?? new AbortController().signal;
  const fetching = fetchContext(options.fetching ?? loadFetchConfig());
  const free = await lockRuns(stateFolder, signal, () => onNote("another import is using this folder; this one starts when it has ended"));
  // The caller reports the error that ends the import, so that its text is not noted as well.
  let ending = "";
  let observations: Awaited<ReturnType<typeof openObservations>> | undefined;
  try {
    await options.onBegin?.();
    observations = options.observations && (await openObservations(options.observations));
    const note = (fields: NoteFields, message: string) => {
      const { required = false, reason } = fields;
      if (required || (reason !== undefined && ending.includes(reason))) return;
      onNote([fields.source, message, fields.reason].filter((part) => part !== undefined).join(": "));
    };
    const log = { info: () => undefined, warn: note, error: note };
    const stored = observations === undefined ? undefined : storedNow(observations);
    const stock = await openStock({ stateFolder, fetching, metrics: null, log, stored, clock: { now: () => Date.now() } });
    const listed = await withStored(config, stored, store, true);
    const scope = await wholeScope(listed, stock, signal, onProgress);
    // A failure to save the state does not change the result of the run.
    const settle = (report: RunReport) =>
      stock
        .settle(scope.sources, scope.files, report)
        .catch(({ message }: Error) => onNote(`the state of the sources found by this import could not be saved: ${message}`));
    const folder = statementsIn(stateFolder);
    const run = runIngest({
      config: withFiles(listed, scope.files, null),
      store,
      onProgress,
      signal,
      acceptShrink,
      observations,
      statements: new StatementFiles(folder),
    });
    const report = await run.catch(async (error: unknown) => {
      if (!(error instanceof IngestError)) throw error;
      ending = error.message;
      // Frees the space of what the failed run stored. Objects that cannot be removed now are removed by the next run.
      await store.discardUnpublished().catch(() => undefined);
      await settle(error.report);
      throw error;
    });
    await settle(report);
    if (options.statements !== undefined)
      await keepStatements({ folder, statements: options.statements, snapshots: store, signal }).catch((error: Error) =>
        onNote(`the import is complete, but the profiles that operators list could not be brought up to date: ${error.message}`),
      );
    return report;
  } catch (cause) {
    if (cause instanceof SourcesAwayError) throw new IngestError(cause.message, cause.report, { cause, isUnwritten: cause.isUnwritten });
    if (cause instanceof IngestError || !signal.aborted) throw cause;
    const message = "stopped; nothing was published";
    throw new IngestError(message, unbegunReport(config, message), { cause });
  } finally {
    await observations?.close();
    free();
  }
}
