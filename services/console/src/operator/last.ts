/** Keeps the last answer to a question while it is asked again. */

import { useRef } from "preact/hooks";
import type { Answer } from "../asked.ts";

export function useLast<T>(question: string, answer: Answer<T>): Answer<T> {
  const last = useRef<{ question: string; answer: Answer<T> } | null>(null);
  if (answer.state !== "loading") last.current = { question, answer };
  return last.current?.question === question ? last.current.answer : answer;
}
