/** The broadcast that announces a changed key or plan to every gateway at once. */

/** Its messages are `KeyChange` or `PlanChange`, from the process that changed a key or plan in a shared store. */
export const keysChangedSubject = "keys.changed";

/** A key has changed. Receivers read the key again. */
export interface KeyChange {
  readonly key_id: string;
  readonly version: number;
}

/** The limits of a plan have changed, and so have those of its keys. */
export interface PlanChange {
  readonly plan: string;
  readonly version: number;
}
