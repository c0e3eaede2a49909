/** The secret of a new key. It is in the memory of the tab, so that looking at another page does not lose it. */

import type { CreatedKey, RotatedKey } from "@netfacts/contracts";
import { signal } from "@preact/signals";

/** Null: there is none, or its reader has stored it. */
export const newSecret = signal<CreatedKey | RotatedKey | null>(null);
