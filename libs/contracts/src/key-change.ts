/** The broadcast that makes a key's change reach every gateway at once. */

/** Carries `KeyChange`; published by whoever changed a key in a store that others share. */
export const keysChangedSubject = "keys.changed";

/** Says that, not what: who hears it reads the key again. */
export interface KeyChange {
  readonly key_id: string;
  readonly version: number;
}
