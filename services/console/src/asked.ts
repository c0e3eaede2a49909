/** One question of a page: loading, answered or failed. It is asked when the page is shown, and when the question or the client changes. */

import { NetfactsProblem, type Problem } from "@netfacts/client";
import { useCallback, useEffect, useState } from "preact/hooks";

export type Failure =
  | { readonly kind: "problem"; readonly problem: Problem /** Seconds, when the server named them. */; readonly retryAfter: number | null }
  | { readonly kind: "unreachable"; readonly detail: string };

export type Answer<T> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly failure: Failure }
  | { readonly state: "answered"; readonly record: T };

export function failureOf(error: unknown): Failure {
  if (error instanceof NetfactsProblem) {
    const { problem, retryAfterSeconds } = error;
    if (isShowable(problem)) return { kind: "problem", problem, retryAfter: retryAfterSeconds };
    return { kind: "unreachable", detail: `the problem with status ${error.status} is not in the form of Netfacts` };
  }
  return { kind: "unreachable", detail: error instanceof Error ? error.message : String(error) };
}

/** Whether a problem has the expected members: a proxy, or a server of another version, may use others. */
function isShowable({ code, title, detail, errors = [] }: Problem): boolean {
  return [code, title, detail].every((text) => typeof text === "string") && Array.isArray(errors) && errors.every(hasMessage);
}

function hasMessage(error: { readonly message?: unknown } | null): boolean {
  return typeof error?.message === "string";
}

/**
 * @param asked     client that answers: asks again when it changes.
 * @param question  key of the question: asks again when it changes.
 * @returns the answer, and a function that asks again.
 */
export function useAsked<C, T>(asked: C, question: string, ask: (asked: C, signal: AbortSignal) => Promise<T>): [Answer<T>, () => void] {
  const [answer, setAnswer] = useState<{ readonly question: string; readonly answer: Answer<T> }>({
    question,
    answer: { state: "loading" },
  });
  const [attempt, setAttempt] = useState(0);
  // `ask` is a new function each time; `question` shows whether it asks something else.
  useEffect(() => {
    const leaving = new AbortController();
    setAnswer({ question, answer: { state: "loading" } });
    ask(asked, leaving.signal).then(
      (record) => {
        if (!leaving.signal.aborted) setAnswer({ question, answer: { state: "answered", record } });
      },
      (error) => {
        if (!leaving.signal.aborted) setAnswer({ question, answer: { state: "failed", failure: failureOf(error) } });
      },
    );
    return () => leaving.abort();
  }, [question, asked, attempt]);
  const again = useCallback(() => setAttempt((value) => value + 1), []);
  // Do not show the answer to the previous question for the new one.
  return [answer.question === question ? answer.answer : { state: "loading" }, again];
}
