/** The key of this tab and the clients that use it. */

import { NetfactsClient } from "@netfacts/client";
import { computed } from "@preact/signals";
import { createKeyHolder } from "./key-holder.ts";

/** Longer than the gateway's own deadlines. */
const timeoutMs = 30_000;

const holder = createKeyHolder("netfacts-key");

export const { hasKey, isKept, use: useKey, forget: forgetKey } = holder;

/** A new client for each key. It does not retry: a page shows the failure, and its reader decides when to try again. */
export const client = computed(() => {
  const key = holder.key.value;
  return new NetfactsClient({ url: location.origin, ...(key !== null && { key }), retry: { attemptsMax: 1 }, timeoutMs });
});

/** Client for batches of many requests: it waits for the rate limit, and retries failures. */
export const patientClient = computed(() => {
  const key = holder.key.value;
  return new NetfactsClient({ url: location.origin, ...(key !== null && { key }), timeoutMs });
});
