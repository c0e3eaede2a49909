/** The service `ingest`: reads sources, builds and verifies a snapshot, publishes it. */

export type { ProgressEvent, ProgressListener } from "./pipeline/progress.ts";
export { IngestError, type RunOptions, runIngest } from "./pipeline/run.ts";
export type { RunReport, SourceReport } from "./pipeline/run-report.ts";
export { reportText } from "./show/report-text.ts";
export { bytesText, lineDisplay, type ProgressDisplay, showProgress } from "./show/show-progress.ts";
export { readSources, type SourcesConfig, SourcesFileError } from "./sources/index.ts";
