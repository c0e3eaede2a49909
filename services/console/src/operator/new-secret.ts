/** The secrets of new keys. They are in the memory of the tab, so that looking at another page or creating another key does not lose them. */

import type { CreatedKey, RotatedKey } from "@netfacts/contracts";
import { signal } from "@preact/signals";

/** Those that their reader has not stored yet, the newest first. */
export const newSecrets = signal<readonly (CreatedKey | RotatedKey)[]>([]);

export function showSecret(key: CreatedKey | RotatedKey): void {
  newSecrets.value = [key, ...newSecrets.value];
}

export function forgetSecret(keyId: string): void {
  newSecrets.value = newSecrets.value.filter(({ id }) => id !== keyId);
}
