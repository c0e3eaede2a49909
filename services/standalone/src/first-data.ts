/** The data a start begins with: what is there already, the sources that were named, or the samples. */

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
  /** Where what is fetched is kept. */
  readonly stateFolder: string;
  readonly fetching: FetchConfig;
  /** How uploaded observations are opened; absent: there are none. */
  readonly observations?: ObservationSource;
  /** A sources.yaml to import; empty: none was named. */
  readonly sources: string;
  /** The sources.yaml of the samples. */
  readonly samples: string;
  readonly out: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/**
 * Imports when sources were named or nothing is there yet. Throws `IngestError` or `SourcesFileError` when nothing can be
 * served; a list or a source that is at fault is told where data are there, and they go on serving.
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

/** One run, audited, and kept in the store whatever becomes of it. */
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
    // What ended the run is told, also where its record cannot be kept (a full disk ends both).
    await save("failed", error instanceof IngestError ? error.report : null).catch(() => {});
    throw error;
  }
}
