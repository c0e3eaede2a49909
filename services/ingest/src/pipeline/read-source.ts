/** Reads one source with the reader of its format and hands its records to the section's inputs; RIBs are read elsewhere. */

import type { ReaderReport } from "../readers/index.ts";
import type { BuiltSection, SourceConfig } from "../sources/index.ts";
import { checkMd5Beside } from "./md5-beside.ts";
import { openSource, type StoredFile } from "./open-source.ts";
import type { ProgressListener } from "./progress.ts";
import { type SideRecords, type TableFormat, type TableInputs, tableReaders } from "./table-readers.ts";

/** A source of anything but routes. */
export type TableSource = SourceConfig & { readonly section: Exclude<BuiltSection, "routes">; readonly format: TableFormat };

/** A source that was read to its end. */
export interface SourceReading {
  readonly report: ReaderReport;
  readonly stored: StoredFile;
  readonly side?: SideRecords;
}

/**
 * Reads a source into `inputs`.
 *
 * Throws `SourceError` for a source that cannot be trusted, and what `check` throws, which looks at the report. A failed
 * source adds nothing.
 */
export async function readSource(
  source: TableSource,
  inputs: TableInputs,
  check: (report: ReaderReport) => void,
  onProgress: ProgressListener,
  signal?: AbortSignal,
): Promise<SourceReading> {
  const label = `read ${source.name}`;
  // What was fetched was compared when it was.
  if (source.format === "delegated" && source.fetch === undefined) await checkMd5Beside(source.location);
  const { content, stored } = openSource(source, (done, total) => onProgress({ label, done, total, unit: "bytes" }), signal);
  const { report, add, side } = await tableReaders[source.format](content, inputs, source.section);
  check(report);
  add(source.name);
  return { report, stored: stored(), ...(side && { side }) };
}
