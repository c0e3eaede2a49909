/** @netfacts/storage: the store: repositories and their implementation in SQLite. For MongoDB: `./mongo`. */

export { tryFileLock } from "./file-lock.ts";
export { type FolderOwner, ownerFile, ownerLock, readOwner, runningOwner } from "./folder-owner.ts";
export type { Lease, LeaseOutcome, LeaseRepository, RenewOutcome } from "./lease-repository.ts";
export type {
  GiveBackOutcome,
  LimitMark,
  LimitReading,
  LimitRepository,
  LimitWindow,
  RecoverOutcome,
  TakeOutcome,
} from "./limit-repository.ts";
export { saidMs } from "./limit-repository.ts";
export { DanglingLinkError, makeFolder } from "./make-folder.ts";
export {
  type MergedField,
  type MergedPage,
  type MergedProfile,
  type MergedSearch,
  mergedProfile,
  overrideSource,
  type SaidValue,
  searchMerged,
} from "./merged-profiles.ts";
export { mongoUriFault } from "./mongo/mongo-uri.ts";
export {
  type BadLine,
  type NewUpload,
  type ObservationRepository,
  type ObservationRow,
  type ObservationStore,
  type RowSelector,
  type StoredRow,
  type UploadFormat,
  type UploadProgress,
  type UploadRecord,
  uploadLinesMax,
} from "./observation-repository.ts";
export { overrideFaults, overridesMax, type ProfileOverride, ProfileOverrides } from "./profile-overrides.ts";
export type { ProfileRecord, ProfileRepository } from "./profile-repository.ts";
export { replacedEnding } from "./replaced-name.ts";
export { type RunRecord, type RunRepository, type RunState, runsKept } from "./run-repository.ts";
export {
  backUpSqliteObservations,
  backUpSqliteStore,
  restoreSqlite,
  type SqliteCopy,
  type SqliteRestored,
} from "./sqlite/backup.ts";
export { observationsFile, openSqliteObservations } from "./sqlite/sqlite-observations.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite/sqlite-store.ts";
export {
  type StatedSection,
  type StatedVersion,
  type StatementRepository,
  type StatementRow,
  statedSections,
} from "./statement-repository.ts";
export { type ProfileField, profileFields, type Statement, statementsText } from "./statements.ts";
export type { Store } from "./store.ts";
export { isDiskFull, isNotWritable, StoreError, type StoreFault } from "./store-error.ts";
export { syncFolder } from "./sync-folder.ts";
export { daysOf } from "./usage-batch.ts";
export {
  type UsageDimension,
  type UsageGroup,
  type UsagePlace,
  usageColumns,
  usageDimensions,
  usageGroups,
  usageItem,
} from "./usage-report.ts";
export type { UsageBatch, UsageCounts, UsagePage, UsageQuery, UsageRepository, UsageRow } from "./usage-repository.ts";
