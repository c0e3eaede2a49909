/** The data a start begins with: what is there already, the sources that were named, or the samples. */

import type { SnapshotStore } from "@netfacts/dataset";
import { IngestError, type RunReport, readSources, reportText, runIngest, showProgress } from "@netfacts/ingest/app";
import type { Store } from "@netfacts/storage";

export interface FirstDataOptions {
  readonly snapshots: SnapshotStore;
  readonly store: Store;
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
export async function ensureData({ snapshots, store, sources, samples, out, signal }: FirstDataOptions): Promise<void> {
  const current = await snapshots.currentId();
  if (sources === "" && current !== null) return;
  const file = sources === "" ? samples : sources;
  out.write(sources === "" ? "importing the sample dataset (once)\n" : `importing ${file}\n`);
  try {
    await importSources({ snapshots, store, file, out, signal, showReport: sources !== "" });
  } catch (error) {
    if (current === null || signal.aborted) throw error;
    out.write(`the import failed: ${(error as Error).message}\nthe data imported before go on serving\n`);
  }
}

interface ImportOptions extends Pick<FirstDataOptions, "snapshots" | "store" | "out" | "signal"> {
  readonly file: string;
  readonly showReport: boolean;
}

/** One run, kept in the store whatever becomes of it. */
async function importSources({ snapshots, store, file, out, signal, showReport }: ImportOptions): Promise<void> {
  const config = await readSources(file);
  const startedAt = Date.now();
  const id = `run-${new Date(startedAt).toISOString().replace(/[-:.]/g, "")}`;
  const save = (state: "running" | "succeeded" | "failed", report: RunReport | null) =>
    store.runs.save({ id, startedAt, endedAt: state === "running" ? null : Date.now(), state, report });
  await save("running", null);
  const progress = showProgress(out);
  try {
    const report = await runIngest({ config, store: snapshots, onProgress: progress.listener, signal }).finally(() => progress.stop());
    await save("succeeded", report);
    if (showReport) out.write(reportText(report));
  } catch (error) {
    // What ended the run is told, also where its record cannot be kept (a full disk ends both).
    await save("failed", error instanceof IngestError ? error.report : null).catch(() => {});
    throw error;
  }
}
