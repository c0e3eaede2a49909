/** The admin key of this tab, and the client that uses it. It is stored under another name than a key of the public pages. */

import { computed } from "@preact/signals";
import { createKeyHolder } from "../key-holder.ts";
import { newSecrets } from "./new-secret.ts";
import { OperatorClient } from "./operator-client.ts";

const holder = createKeyHolder("netfacts-operator-key");

export const { hasKey, isKept, use: useKey } = holder;

/** Also forgets the shown secrets, so that the next user of this tab does not see them. */
export function forgetKey(): void {
  newSecrets.value = [];
  holder.forget();
}

/** A new client for each key. */
export const client = computed(() => new OperatorClient(location.origin, holder.key.value));

/** The id of the key in use, which is not secret: `7Q9M3W8K` of `nf_live_7Q9M3W8K_…`; null for other texts. */
export const ownKeyId = computed(() => /^nf_[a-z]+_([0-9A-Z]{8})_/.exec(holder.key.value ?? "")?.[1] ?? null);
