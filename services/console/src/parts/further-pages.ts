/** Further pages of a list, asked for one after the other. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../asked.ts";

export interface Page<T> {
  readonly items: readonly T[] | null;
  readonly next_cursor: string | null;
}

export interface Pages<T> {
  readonly items: readonly T[];
  readonly more: (() => void) | null;
  readonly isLoading: boolean;
  readonly failure: Failure | null;
}

/** @param first  the page that the answer has; another one begins anew. */
export function useFurtherPages<T>(first: Page<T>, ask: (cursor: string, signal: AbortSignal) => Promise<Page<T>>): Pages<T> {
  const [shown, setShown] = useState<{
    first: Page<T>;
    items: readonly T[];
    cursor: string | null;
    failure: Failure | null;
    isLoading: boolean;
  }>();
  const leaving = useRef<AbortController | null>(null);
  useEffect(() => () => leaving.current?.abort(), [first]);
  const now =
    shown?.first === first ? shown : { first, items: first.items ?? [], cursor: first.next_cursor, failure: null, isLoading: false };
  const { cursor } = now;
  const more = () => {
    if (cursor === null || now.isLoading) return;
    const aborter = new AbortController();
    leaving.current = aborter;
    setShown({ ...now, failure: null, isLoading: true });
    ask(cursor, aborter.signal).then(
      ({ items, next_cursor }) => {
        if (!aborter.signal.aborted)
          setShown({ first, items: [...now.items, ...(items ?? [])], cursor: next_cursor, failure: null, isLoading: false });
      },
      (error) => {
        if (!aborter.signal.aborted) setShown({ ...now, failure: failureOf(error), isLoading: false });
      },
    );
  };
  return { items: now.items, more: cursor === null ? null : more, isLoading: now.isLoading, failure: now.failure };
}
