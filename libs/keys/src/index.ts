/**
 * @netfacts/keys: keys and their life cycle, over the repositories that this library declares.
 *
 * Operators change keys only through `Administration`, which checks, audits and announces each change; an installation gets its first key by
 * `createFirstKey`. The functions of single changes are for programs that have a store and no operator, such as tests and benchmarks.
 */

export {
  Administration,
  type ControlChange,
  type CreateOutcome,
  type DeletePlanOutcome,
  type Idempotency,
  IdempotencyConflict,
  type Operator,
} from "./administration.ts";
export type { AuditEntry, AuditQuery, AuditRepository } from "./audit-repository.ts";
export type { BootstrapClaim, BootstrapRepository } from "./bootstrap-repository.ts";
export type { KeyOutcome } from "./change-key.ts";
export { createFirstKey, readScopes } from "./first-key.ts";
export type { IdempotencyClaim, IdempotencyOutcome, IdempotencyRepository } from "./idempotency-repository.ts";
export { hashKey, type Pepper, secretMatches } from "./key-hash.ts";
export type {
  ConcurrencyLimit,
  KeyEdit,
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
export { type KeyPatch, KeySpecError, type NewKey, type SpecFault, specFault } from "./key-spec.ts";
export type { KeyStore } from "./key-store.ts";
export { displayKey, generateKeyText, type KeyText, keyTextFault, parseKeyText } from "./key-text.ts";
export { type CreatedKey, createKey, defaultPlan, disableKey, enableKey, revokeKey, updateKey } from "./manage.ts";
export { type Peppers, readPeppers } from "./peppers.ts";
export type { PlanRecord, PlanRepository } from "./plan-repository.ts";
export { redactText, withoutKeys } from "./redact.ts";
export { type RotateOptions, type RotateOutcome, rotateKey } from "./rotate.ts";
