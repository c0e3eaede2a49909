/** @netfacts/storage: repository interfaces, their implementation in SQLite, and the form of keys. In MongoDB: `./mongo`. */

export type { AuditEntry, AuditQuery, AuditRepository } from "./audit-repository.ts";
export type { BootstrapClaim, BootstrapRepository } from "./bootstrap-repository.ts";
export type {
  KeyChange,
  KeyEnvironment,
  KeyLimits,
  KeyRecord,
  KeyRepository,
  KeyState,
  KeyUpdate,
  MonthLimit,
  RateLimit,
} from "./key-repository.ts";
export { createFirstKey, type FirstKeyOptions, readScopes } from "./keys/first-key.ts";
export { hashKey, type Pepper, secretMatches } from "./keys/key-hash.ts";
export { KeySpecError, type NewKey } from "./keys/key-spec.ts";
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
} from "./keys/manage.ts";
export type { Lease, LeaseOutcome, LeaseRepository, RenewOutcome } from "./lease-repository.ts";
export type { GiveBackOutcome, LimitReading, LimitRepository, LimitWindow, TakeOutcome } from "./limit-repository.ts";
export type { ProfileRecord, ProfileRepository } from "./profile-repository.ts";
export { type RunRecord, type RunRepository, type RunState, runsKept } from "./run-repository.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite/sqlite-store.ts";
export type { Store } from "./store.ts";
export { StoreError, type StoreFault } from "./store-error.ts";
export type { UsageBatch, UsageCounts, UsageQuery, UsageRepository, UsageRow } from "./usage-repository.ts";
