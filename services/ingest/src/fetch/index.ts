/** Fetching of sources over http and https. */

export {
  type FetchedFile,
  noteGood,
  noteUse,
  pathOf,
  readFilesOf,
  removeUnlisted,
  type SourceFiles,
} from "./download-folder.ts";
export { FetchError, type FetchFault } from "./fetch-error.ts";
export { type FetchContext, type FetchOutcome, fetchSource, type RemoteSource } from "./fetch-source.ts";
export { fetchSteps, readSteps, type StepsOutcome, usableSteps } from "./fetch-steps.ts";
export { ReferredFeeds } from "./referred-feeds.ts";
