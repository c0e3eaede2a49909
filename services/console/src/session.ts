/** The key of this tab, the client that uses it, and the time of the page. The key is in memory; in `sessionStorage` only when its owner asks. */

import { NetfactsClient } from "@netfacts/client";
import { computed, signal } from "@preact/signals";

const storedName = "netfacts-key";
/** Longer than the gateway's own deadlines. */
const timeoutMs = 30_000;

const keyInUse = signal<string | null>(readStored());

export const hasKey = computed(() => keyInUse.value !== null);
export const isKept = signal(keyInUse.value !== null);

/** Replaced with the key. It makes one try: a page shows what happened, and its reader decides when to try again. */
export const client = computed(() => {
  const key = keyInUse.value;
  return new NetfactsClient({ url: location.origin, ...(key !== null && { key }), retry: { attemptsMax: 1 }, timeoutMs });
});

/** For a batch, which is many requests: it waits for the rate limit, and tries again what failed in between. */
export const patientClient = computed(() => {
  const key = keyInUse.value;
  return new NetfactsClient({ url: location.origin, ...(key !== null && { key }), timeoutMs });
});

/** @param kept  also for a reload of this tab. @returns false for a text that cannot be a key. */
export function useKey(text: string, kept: boolean): boolean {
  const key = text.trim();
  if (!/^[!-~]+$/.test(key)) return false;
  keyInUse.value = key;
  isKept.value = kept && store(key);
  return true;
}

export function forgetKey(): void {
  keyInUse.value = null;
  isKept.value = false;
  store(null);
}

/** Storage can be forbidden by the browser's settings. */
function readStored(): string | null {
  try {
    return sessionStorage.getItem(storedName);
  } catch {
    return null;
  }
}

function store(key: string | null): boolean {
  try {
    if (key === null) sessionStorage.removeItem(storedName);
    else sessionStorage.setItem(storedName, key);
    return true;
  } catch {
    return false;
  }
}
