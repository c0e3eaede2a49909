/** One answer of the public API for a page. */

import type { NetfactsClient } from "@netfacts/client";
import { type Answer, useAsked } from "./asked.ts";
import { client } from "./session.ts";

export { type Answer, type Failure, failureOf } from "./asked.ts";

/**
 * @param question  key of the question: asks again when it changes.
 * @returns the answer, and a function that asks again.
 */
export function useAnswer<T>(question: string, ask: (client: NetfactsClient, signal: AbortSignal) => Promise<T>): [Answer<T>, () => void] {
  return useAsked(client.value, question, ask);
}
