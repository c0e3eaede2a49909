/** One answer of the operator API for a page. */

import { type Answer, useAsked } from "../asked.ts";
import type { OperatorClient } from "./operator-client.ts";
import { client } from "./session.ts";

/**
 * @param question  key of the question: asks again when it changes.
 * @returns the answer, and a function that asks again.
 */
export function useOperatorAnswer<T>(
  question: string,
  ask: (client: OperatorClient, signal: AbortSignal) => Promise<T>,
): [Answer<T>, () => void] {
  return useAsked(client.value, question, ask);
}
