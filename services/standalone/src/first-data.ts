/** The data at a start: those that exist, an import of the configured sources, or the samples. */

import {
  type FetchConfig,
  IngestError,
  importSources,
  newRunId,
  type ObservationSource,
  overridesIn,
  type RunReport,
  readSources,
  reportText,
  showProgress,
} from "@netfacts/ingest/app";
import type { SnapshotStore } from "@netfacts/snapshot";
import type { Store } from "@netfacts/storage";

export interface FirstDataOptions {
  readonly snapshots: SnapshotStore;
  readonly store: Store;
  /** Folder of fetched files. */
  readonly stateFolder: string;
  readonly fetching: FetchConfig;
  /** Database of uploaded observations; absent: there is none. */
  readonly observations?: ObservationSource;
  /** Path of a sources.yaml to import; empty: none is configured. */
  readonly sources: string;
  /** Path of the sources.yaml of the samples. */
  readonly samples: string;
  readonly out: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/**
 * Imports if sources are configured or there are no data. Throws `IngestError` or `SourcesFileError` if there are no data to serve. If an
 * import fails but there are data, prints the error, and these data remain in service.
 */
export async function ensureData({ snapshots, sources, samples, out, signal, ...where }: FirstDataOptions): Promise<void> {
  const current = await snapshots.currentId();
  if (sources === "" && current !== null) return;
  const file = sources === "" ? samples : sources;
  out.write(sources === "" ? "importing the sample dataset (once)\n" : `importing ${file}\n`);
  try {
    await runOnce({ ...where, snapshots, file, out, signal, showReport: sources !== "" });
  } catch (error) {
    if (current === null || signal.aborted) throw error;
    out.write(`import failed: ${(error as Error).message}\nthe previous data remain in service\n`);
  }
}

interface RunOnceOptions extends Omit<FirstDataOptions, "sources" | "samples"> {
  readonly file: string;
  readonly showReport: boolean;
}

/** Runs one import, and records it in the audit log and in the store, even if it fails. */
async function runOnce({
  snapshots,
  store,
  stateFolder,
  fetching,
  observations,
  file,
  out,
  signal,
  showReport,
}: RunOnceOptions): Promise<void> {
  const config = await readSources(file, { overrides: overridesIn(stateFolder) });
  const startedAt = Date.now();
  const id = newRunId(startedAt);
  const actor = "start";
  const save = (state: "running" | "succeeded" | "failed", report: RunReport | null) =>
    store.runs.save({ id, startedAt, endedAt: state === "running" ? null : Date.now(), state, report: { started_by: actor, ...report } });
  await store.audit.append({ at: startedAt, actor, action: "run.start", target: id, address: null, keyId: null, details: null });
  await save("running", null);
  const progress = showProgress(out);
  try {
    const run = importSources({
      config,
      store: snapshots,
      stateFolder,
      fetching,
      observations,
      statements: store.statements,
      onProgress: progress.listener,
      signal,
      onNote: (note) => void out.write(`${note}\n`),
    });
    const report = await run.finally(() => progress.stop());
    await save("succeeded", report);
    if (showReport) out.write(reportText(report));
  } catch (error) {
    // Report the error of the run even if its record cannot be saved: a full disk causes both.
    await save("failed", error instanceof IngestError ? error.report : null).catch(() => {});
    throw error;
  }
}
