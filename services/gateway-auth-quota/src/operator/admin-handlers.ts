/** Wires the handlers of the gateway's own routes for operators. */

import { Administration, type ControlChange, type KeyLimits, type Pepper } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";
import { usageHandlers } from "../usage/usage-handlers.ts";
import type { AdminHandlers } from "./admin-routes.ts";
import { auditHandlers } from "./audit-handlers.ts";
import { keyHandlers } from "./key-handlers.ts";
import { planHandlers } from "./plan-handlers.ts";
import { profileHandlers } from "./profile-handlers.ts";

export interface AdminHandlerDeps {
  readonly store: Pick<Store, "keys" | "plans" | "audit" | "idempotency" | "usage" | "profiles" | "statements">;
  readonly clock: { now(): number };
  /** Pepper with which new keys are hashed; null: none. */
  readonly pepper: Pepper | null;
  /** Limits of the plan `default` until it is written. */
  readonly defaultLimits: KeyLimits;
  /** Called with each change that other gateways must know. */
  readonly changed: (change: ControlChange) => void;
}

export function adminHandlers({ store, clock, pepper, defaultLimits, changed }: AdminHandlerDeps): AdminHandlers {
  const administration = new Administration({ store, pepper, changed, now: () => clock.now() });
  return {
    ...keyHandlers({ store, administration, clock }),
    ...planHandlers({ store, administration, defaultLimits }),
    ...profileHandlers({ store, clock }),
    ...auditHandlers(store),
    ...usageHandlers(store.usage, clock),
  };
}
