/** The repositories that the life cycle of keys needs; `Store` of @netfacts/storage has them. */

import type { AuditRepository } from "./audit-repository.ts";
import type { BootstrapRepository } from "./bootstrap-repository.ts";
import type { IdempotencyRepository } from "./idempotency-repository.ts";
import type { KeyRepository } from "./key-repository.ts";
import type { PlanRepository } from "./plan-repository.ts";

/** Methods of the repositories reject with the store's own error, unless their outcome type has a case for it. */
export interface KeyStore {
  readonly keys: KeyRepository;
  readonly plans: PlanRepository;
  readonly bootstrap: BootstrapRepository;
  readonly idempotency: IdempotencyRepository;
  readonly audit: AuditRepository;
}
