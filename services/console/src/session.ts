/** The key of this tab, the client that uses it, and the time of the page. */

import { NetfactsClient } from "@netfacts/client";
import { computed } from "@preact/signals";
import { createKeyHolder } from "./key-holder.ts";

/** Longer than the gateway's own deadlines. */
const timeoutMs = 30_000;

const holder = createKeyHolder("netfacts-key");

export const { hasKey, isKept, use: useKey, forget: forgetKey } = holder;

/** Replaced with the key. It makes one try: a page shows what happened, and its reader decides when to try again. */
export const client = computed(() => {
  const key = holder.key.value;
  return new NetfactsClient({ url: location.origin, ...(key !== null && { key }), retry: { attemptsMax: 1 }, timeoutMs });
});

/** For a batch, which is many requests: it waits for the rate limit, and tries again what failed in between. */
export const patientClient = computed(() => {
  const key = holder.key.value;
  return new NetfactsClient({ url: location.origin, ...(key !== null && { key }), timeoutMs });
});
