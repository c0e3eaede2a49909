/** Further pages of a list, requested one after the other. */

import { useEffect, useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../asked.ts";

/** Most items of a list: then no further pages are requested. */
export const itemsMax = 100_000;

export interface Page<T> {
  readonly items: readonly T[] | null;
  readonly next_cursor: string | null;
}

export interface Pages<T> {
  readonly items: readonly T[];
  /** The items before the current load, for parts that are too slow to render each page. */
  readonly settled: readonly T[];
  /** Requests the next page; null: there is none, or the list is full. */
  readonly more: (() => void) | null;
  /** Requests all further pages, and waits for the rate limit; null like `more`. */
  readonly all: (() => void) | null;
  /** Stops `more` or `all`; loaded items stay. */
  stop(): void;
  readonly isLoading: boolean;
  /** Whether the API has more items than are loaded. */
  readonly isCut: boolean;
  readonly failure: Failure | null;
  /** Requests the first page again; null unless the cursor has expired because of new data. */
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

/** A constant, so that hooks that depend on it do not run again. */
const noItems: readonly never[] = [];

/**
 * @param first  page in the answer; the list starts again when it changes.
 * @param ask    requests a page; if patient, it waits for the rate limit and retries failures.
 * @param again  requests `first` again; absent: cursors do not expire.
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
        // Stop at a page without items, which could go on for ever.
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
