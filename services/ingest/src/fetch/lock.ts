/** Waiting for a lock between processes. */

import { setTimeout as sleep } from "node:timers/promises";
import { tryFileLock } from "@netfacts/storage";

const askedEveryMs = 100;

/** Resolves with what frees it, once nobody else holds it. `onWaiting` is called once, when somebody does. @throws Error that names the file. */
export async function takeLock(path: string, signal?: AbortSignal, onWaiting: () => void = () => undefined): Promise<() => void> {
  for (let waits = 0; ; waits++) {
    signal?.throwIfAborted();
    const release = tryFileLock(path);
    if (release !== null) return release;
    if (waits === 0) onWaiting();
    await sleep(askedEveryMs, undefined, signal === undefined ? {} : { signal });
  }
}
