/** The secrets of new keys. They stay in the memory of the tab when its user opens another page or creates another key. */

import type { CreatedKey, RotatedKey } from "@netfacts/contracts";
import { signal } from "@preact/signals";

/** New keys whose secrets are not stored yet by their reader, newest first. */
export const newSecrets = signal<readonly (CreatedKey | RotatedKey)[]>([]);

export function showSecret(key: CreatedKey | RotatedKey): void {
  newSecrets.value = [key, ...newSecrets.value];
}

export function forgetSecret(keyId: string): void {
  newSecrets.value = newSecrets.value.filter(({ id }) => id !== keyId);
}
