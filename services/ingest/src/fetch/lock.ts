/** Waits for a lock between processes. */

import { setTimeout as sleep } from "node:timers/promises";
import { tryFileLock } from "@netfacts/storage";

const askedEveryMs = 100;

/**
 * Waits until no other process holds the lock. `onWaiting` is called once, if one does. @returns a function that releases the lock
 *
 * @throws Error that names the file; the reason of `signal`
 */
export async function takeLock(path: string, signal?: AbortSignal, onWaiting: () => void = () => undefined): Promise<() => void> {
  for (let waits = 0; ; waits++) {
    signal?.throwIfAborted();
    const release = tryFileLock(path);
    if (release !== null) return release;
    if (waits === 0) onWaiting();
    await sleep(askedEveryMs, undefined, signal === undefined ? {} : { signal });
  }
}
