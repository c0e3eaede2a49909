/** Asks for limits a few times if their store does not answer: a batch is worth the wait. */

import { setTimeout as sleep } from "node:timers/promises";

/** A store that is late has often answered by then. */
const retryMs = 300;
/** Each try may cost the units of the one before, as its outcome is not known. */
const triesMax = 3;

/** The outcome of the first try that found the store, or of the last one. */
export async function patiently<T>(ask: () => Promise<T>, isAway: (outcome: T) => boolean): Promise<T> {
  let outcome = await ask();
  for (let tries = 1; tries < triesMax && isAway(outcome); tries++) {
    await sleep(retryMs);
    outcome = await ask();
  }
  return outcome;
}
