/** The service `ingest`: reads sources, builds and verifies a snapshot, publishes it. */

import type { IngestApp, IngestDeps } from "./service.ts";

export type { ProgressEvent, ProgressListener } from "./pipeline/progress.ts";
export { IngestError, type RunOptions, runIngest } from "./pipeline/run.ts";
export type { RunReport, SourceReport } from "./pipeline/run-report.ts";
export type { IngestApp, IngestDeps } from "./service.ts";
export { reportText } from "./show/report-text.ts";
export { bytesText, lineDisplay, type ProgressDisplay, showProgress } from "./show/show-progress.ts";
export { readSources, type SourcesConfig, SourcesFileError } from "./sources/index.ts";

/** The service with its operator API, for its own process. The command line and the one-process form, which import alone, load none of it. */
export async function buildApp(deps: IngestDeps): Promise<IngestApp> {
  const { buildService } = await import("./service.ts");
  return buildService(deps);
}
