/** An answer that is polled while it changes. */

import { useEffect } from "preact/hooks";
import type { Answer } from "../asked.ts";
import { useOperatorAnswer } from "./asking.ts";
import { useLast } from "./last.ts";
import type { OperatorClient } from "./operator-client.ts";

/** @param isMoving  whether the answer will change: then it is requested again after `everyMs`. */
export function usePolled<T>(
  question: string,
  everyMs: number,
  ask: (client: OperatorClient, signal: AbortSignal) => Promise<T>,
  isMoving: (record: T) => boolean,
): [Answer<T>, () => void] {
  const [answer, again] = useOperatorAnswer(question, ask);
  const moves = answer.state === "answered" && isMoving(answer.record);
  useEffect(() => {
    if (!moves) return;
    const timer = setTimeout(again, everyMs);
    return () => clearTimeout(timer);
  }, [answer, moves]);
  // Keep the shown answer during the next request.
  const shown = useLast(question, answer);
  return [shown, again];
}
