/** The service `ingest`: reads sources, builds a snapshot, verifies it and publishes it. */

import type { IngestSource } from "@netfacts/contracts";
import type { LocalIngest, LocalIngestDeps } from "./local-ingest.ts";
import type { RunReport } from "./pipeline/run-report.ts";
import type { EncodeAttributes, ReplayedRoutes, ReplayInput, ReplayRoutesOptions } from "./replay/index.ts";
import type { FollowDeps, Following } from "./schedule/follow-sources.ts";
import type { ImportOptions } from "./schedule/import-sources.ts";
import type { OverviewOptions } from "./schedule/overview.ts";
import type { IngestApp, IngestDeps } from "./service.ts";
import type { LocalObservations, openLocalObservations as OpenLocalObservations } from "./uploads/local-observations.ts";

export { fetchContext } from "./fetch/config.ts";
export { type FetchConfig, fetchConfigSchema } from "./fetch/config-schema.ts";
export type { LocalIngest, LocalIngestDeps } from "./local-ingest.ts";
export { overridesIn } from "./overrides/override-file.ts";
export type { ProgressEvent, ProgressListener } from "./pipeline/progress.ts";
export type { RunOptions } from "./pipeline/run.ts";
export { IngestError, runIngest } from "./pipeline/run-ingest.ts";
export type { RunReport, SourceReport } from "./pipeline/run-report.ts";
export { ActivationCoordinator, type ActivationOutcome } from "./publish/activation-coordinator.ts";
export type { EncodeAttributes, ReplayedRoutes, ReplayInput, ReplayRoutesOptions, UpdateFileCounts } from "./replay/index.ts";
export { endAbandonedRuns } from "./runs/abandoned-runs.ts";
export { newRunId } from "./runs/run-record.ts";
export type { FollowDeps, Following } from "./schedule/follow-sources.ts";
export type { ImportOptions } from "./schedule/import-sources.ts";
export type { IngestApp, IngestDeps } from "./service.ts";
export { reportText } from "./show/report-text.ts";
export { bytesText, lineDisplay, type ProgressDisplay, showProgress } from "./show/show-progress.ts";
export { readSources, type SourcesConfig, SourcesFileError } from "./sources/index.ts";
export { type ObservationsConfig, observationsConfigSchema } from "./uploads/config-schema.ts";
export type { ObservationSource } from "./uploads/open-observations.ts";

/** The service with its operator API, for a process of its own. The command line and the one-process form only import, and do not load it. */
export async function buildApp(deps: IngestDeps): Promise<IngestApp> {
  const { buildService } = await import("./service.ts");
  return buildService(deps);
}

/** One import: fetches sources with a URL, then reads, builds, verifies and publishes. Throws as `runIngest` does. */
export async function importSources(options: ImportOptions): Promise<RunReport> {
  return (await import("./schedule/import-sources.ts")).importSources(options);
}

/** Checks each source at its interval and imports what changed, in a process that has its folder to itself. */
export async function followSources(deps: FollowDeps): Promise<Following> {
  return (await import("./schedule/follow-sources.ts")).followSources(deps);
}

/** Access to stored observations without a service. */
export async function openLocalObservations(...args: Parameters<typeof OpenLocalObservations>): Promise<LocalObservations> {
  return (await import("./uploads/local-observations.ts")).openLocalObservations(...args);
}

/** The operator API for the gateway in the same process. */
export async function startLocalIngest(deps: LocalIngestDeps): Promise<LocalIngest> {
  return (await import("./local-ingest.ts")).startLocalIngest(deps);
}

/** The state of each source, read from the files of a state folder, the runs and the snapshot. */
export async function sourcesOverview(options: OverviewOptions): Promise<IngestSource[]> {
  return (await import("./schedule/overview.ts")).sourcesOverview(options);
}

/** What a file that is not MRT looks like by its first bytes: `a web page`, `format delegated`. Null if it is MRT, or not recognised. */
export async function unlikeMrt(head: Uint8Array): Promise<string | null> {
  const { likenessOf } = await import("./readers/likeness.ts");
  const found = likenessOf(head);
  return found === null || found.format === "mrt" ? null : found.what;
}

/** A RIB with its updates applied and with complete attributes. Throws as the function of the same name in `replay/`. */
export async function replayRoutes(
  rib: ReplayInput,
  updates: Iterable<ReplayInput>,
  encode: EncodeAttributes,
  options?: ReplayRoutesOptions,
): Promise<ReplayedRoutes> {
  return (await import("./replay/index.ts")).replayRoutes(rib, updates, encode, options);
}
