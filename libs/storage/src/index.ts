/** @netfacts/storage: repository interfaces, their implementation in SQLite, and the form of keys. In MongoDB: `./mongo`. */

export type { AuditEntry, AuditQuery, AuditRepository } from "./audit-repository.ts";
export type { BootstrapClaim, BootstrapRepository } from "./bootstrap-repository.ts";
export type { IdempotencyClaim, IdempotencyOutcome, IdempotencyRepository } from "./idempotency-repository.ts";
export type {
  ConcurrencyLimit,
  KeyChange,
  KeyEnvironment,
  KeyHash,
  KeyLimits,
  KeyQuery,
  KeyRecord,
  KeyRepository,
  KeyState,
  KeyUpdate,
  MonthLimit,
  RateLimit,
} from "./key-repository.ts";
export {
  Administration,
  type AdministrationOptions,
  type ControlChange,
  type CreateOutcome,
  type DeletePlanOutcome,
  type Idempotency,
  IdempotencyConflict,
  type Operator,
} from "./keys/administration.ts";
export type { ChangeOptions, KeyOutcome } from "./keys/change-key.ts";
export { createFirstKey, type FirstKeyOptions, readScopes } from "./keys/first-key.ts";
export { hashKey, type Pepper, secretMatches } from "./keys/key-hash.ts";
export { type KeyPatch, KeySpecError, type NewKey, type SpecFault } from "./keys/key-spec.ts";
export { displayKey, generateKeyText, type KeyText, parseKeyText } from "./keys/key-text.ts";
export {
  type CreatedKey,
  createKey,
  defaultPlan,
  disableKey,
  enableKey,
  type KeyStateOutcome,
  listKeys,
  revokeKey,
  showKey,
  updateKey,
} from "./keys/manage.ts";
export { noPeppers, type Peppers, readPeppers } from "./keys/peppers.ts";
export { type RotateOptions, type RotateOutcome, rotateKey } from "./keys/rotate.ts";
export type { Lease, LeaseOutcome, LeaseRepository, RenewOutcome } from "./lease-repository.ts";
export type { GiveBackOutcome, LimitReading, LimitRepository, LimitWindow, TakeOutcome } from "./limit-repository.ts";
export { makeFolder } from "./make-folder.ts";
export type { PlanRecord, PlanRepository } from "./plan-repository.ts";
export type { ProfileRecord, ProfileRepository } from "./profile-repository.ts";
export { type RunRecord, type RunRepository, type RunState, runsKept } from "./run-repository.ts";
export { backUpSqliteStore, restoreSqliteStore } from "./sqlite/backup.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite/sqlite-store.ts";
export type { Store } from "./store.ts";
export { StoreError, type StoreFault } from "./store-error.ts";
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
