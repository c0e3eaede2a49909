/** The key of this tab and the clients that use it. */

import { NetfactsClient } from "@netfacts/client";
import { computed } from "@preact/signals";
import { createKeyHolder } from "./key-holder.ts";
import { hearDate } from "./server-clock.ts";

/** Longer than the gateway's own deadlines. */
const timeoutMs = 30_000;

const holder = createKeyHolder("netfacts-key");

export const { hasKey, isKept, use: useKey, forget: forgetKey } = holder;

const heardFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  hearDate(response.headers.get("date"));
  return response;
};

/** A new client for each key. It does not retry: a page shows the failure, and its reader decides when to try again. */
export const client = computed(() => {
  const key = holder.key.value;
  return new NetfactsClient({
    url: location.origin,
    ...(key !== null && { key }),
    retry: { attemptsMax: 1 },
    timeoutMs,
    fetch: heardFetch,
  });
});

/** Client for batches of many requests: it waits for the rate limit, and retries failures. */
export const patientClient = computed(() => {
  const key = holder.key.value;
  return new NetfactsClient({ url: location.origin, ...(key !== null && { key }), timeoutMs, fetch: heardFetch });
});
