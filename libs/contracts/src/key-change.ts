/** The broadcast that makes a change of a key or a plan reach every gateway at once. */

/** Carries `KeyChange` or `PlanChange`; published by whoever changed one in a store that others share. */
export const keysChangedSubject = "keys.changed";

/** Says that, not what: who hears it reads the key again. */
export interface KeyChange {
  readonly key_id: string;
  readonly version: number;
}

/** Says that the limits of a plan, and so those of its keys, are others now. */
export interface PlanChange {
  readonly plan: string;
  readonly version: number;
}
