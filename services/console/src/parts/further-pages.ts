/** Further pages of a list, asked for one after the other. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../asked.ts";

/** Further pages are not asked for when a list has as many items. */
export const itemsMax = 100_000;

export interface Page<T> {
  readonly items: readonly T[] | null;
  readonly next_cursor: string | null;
}

export interface Pages<T> {
  readonly items: readonly T[];
  /** The items before a load in progress, for what is too slow to follow each page. */
  readonly settled: readonly T[];
  /** Asks for the next page; null when there is none, or when the list is full. */
  readonly more: (() => void) | null;
  /** Asks for page after page, and waits for the rate limit; null as `more`. */
  readonly all: (() => void) | null;
  /** Ends what `more` or `all` began; what was loaded stays. */
  stop(): void;
  readonly isLoading: boolean;
  /** Whether the API has more items than are loaded. */
  readonly isCut: boolean;
  readonly failure: Failure | null;
  /** Asks for the first page anew; null unless the cursor has expired, as new data came. */
  readonly restart: (() => void) | null;
}

interface Loaded<T> {
  readonly first: Page<T>;
  readonly items: readonly T[];
  readonly settled: readonly T[];
  readonly cursor: string | null;
  readonly failure: Failure | null;
  readonly isLoading: boolean;
}

/** The same each time, for what depends on it. */
const noItems: readonly never[] = [];

/**
 * @param first  the page that the answer has; another one begins anew.
 * @param ask  where it is patient, it waits for the rate limit and tries again what failed in between.
 * @param again  asks for `first` anew; absent where cursors do not expire.
 */
export function useFurtherPages<T>(
  first: Page<T>,
  ask: (cursor: string, signal: AbortSignal, isPatient: boolean) => Promise<Page<T>>,
  again: (() => void) | null = null,
): Pages<T> {
  const [shown, setShown] = useState<Loaded<T>>();
  const leaving = useRef<AbortController | null>(null);
  useEffect(() => () => leaving.current?.abort(), [first]);
  const begun = first.items ?? noItems;
  const now: Loaded<T> =
    shown?.first === first ? shown : { first, items: begun, settled: begun, cursor: first.next_cursor, failure: null, isLoading: false };
  const load = async (isPatient: boolean, itemsWanted: number) => {
    if (now.isLoading) return;
    const aborter = new AbortController();
    leaving.current = aborter;
    let state: Loaded<T> = { ...now, failure: null, isLoading: true };
    setShown(state);
    while (state.isLoading && state.cursor !== null) {
      try {
        const { items, next_cursor } = await ask(state.cursor, aborter.signal, isPatient);
        const all: readonly T[] = state.items.concat(items ?? []);
        // A page without items would lead nowhere.
        const isLoading: boolean = next_cursor !== null && all.length > state.items.length && all.length < itemsWanted;
        state = { ...state, items: all, settled: isLoading ? state.settled : all, cursor: next_cursor, isLoading };
      } catch (error) {
        state = { ...state, settled: state.items, failure: failureOf(error), isLoading: false };
      }
      if (aborter.signal.aborted) return;
      setShown(state);
    }
  };
  const { failure } = now;
  const canLoad = now.cursor !== null && now.items.length < itemsMax;
  return {
    items: now.items,
    settled: now.settled,
    more: canLoad ? () => load(false, 0) : null,
    all: canLoad ? () => load(true, itemsMax) : null,
    stop() {
      leaving.current?.abort();
      setShown({ ...now, settled: now.items, isLoading: false });
    },
    isLoading: now.isLoading,
    isCut: now.cursor !== null,
    failure,
    restart: failure?.kind === "problem" && failure.problem.code === "cursor_expired" ? again : null,
  };
}
