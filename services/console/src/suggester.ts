/** Suggestions while a text is typed: when to ask for them, and which answer to show. */

import { type Limits, NetfactsProblem } from "@netfacts/client";
import type { SearchResult } from "@netfacts/contracts";

export interface Suggestions {
  readonly items: readonly SearchResult[];
  /** Number of results. */
  readonly total: number;
}

interface SuggesterOptions {
  readonly ask: (text: string, signal: AbortSignal) => Promise<Suggestions>;
  /** Limits of the key by the last answer. */
  readonly limits: () => Limits | null;
  readonly show: (suggestions: Suggestions | null) => void;
}

/** Time without a change of the text before a request, in ms. */
const quietMs = 150;
/** Pause after a failure that names no time. */
const pauseMs = 5_000;
/** Longest pause with a timer: after a longer one, the next letter asks. */
const timerMsMax = 120_000;
/** Units of the rate limit that are reserved for the pages: an address costs two. */
const unitsLeft = 3;
/** Final failures: the key is unknown or may not search, or the gateway has no search. */
const finalStatuses: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * Asks for one text at a time. Always shows the answer to the last text, or null.
 *
 * Failures are silent, because the reader did not ask for suggestions. The page of results shows them.
 */
export class Suggester {
  readonly #options: SuggesterOptions;
  #text: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked: AbortController | null = null;
  /** End of the pause, by the clock of the page; `Infinity`: never. */
  #pausedUntil = 0;

  constructor(options: SuggesterOptions) {
    this.#options = options;
  }

  /** Call with the current text; null: suggest nothing. */
  type(text: string | null): void {
    if (text === this.#text) return;
    this.#text = text;
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#asked = null;
    const waitMs = Math.max(quietMs, this.#pausedUntil - performance.now());
    // Keep the suggestions for the previous text until the next ones are ready, unless that takes long.
    if (text === null || waitMs > quietMs) this.#options.show(null);
    if (text !== null && waitMs <= timerMsMax) this.#timer = setTimeout(() => void this.#ask(text), waitMs);
  }

  async #ask(text: string): Promise<void> {
    const { ask, limits, show } = this.#options;
    const asked = new AbortController();
    this.#asked = asked;
    try {
      const suggestions = await ask(text, asked.signal);
      this.#pause(pauseMsAfter(null, limits()));
      if (!asked.signal.aborted) show(suggestions);
    } catch (failure) {
      if (asked.signal.aborted) return;
      this.#pause(pauseMsAfter(failure, limits()));
      show(null);
    }
  }

  #pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, performance.now() + ms);
  }
}

/** Pause after an answer, in ms. @param failure  null: it succeeded. */
export function pauseMsAfter(failure: unknown, limits: Limits | null): number {
  if (failure instanceof NetfactsProblem) {
    if (finalStatuses.has(failure.status)) return Number.POSITIVE_INFINITY;
    return failure.retryAfterSeconds === null ? pauseMs : failure.retryAfterSeconds * 1_000;
  }
  if (failure !== null) return pauseMs;
  const rate = limits?.rate;
  return rate?.remaining != null && rate.remaining < unitsLeft ? (rate.resetSeconds ?? 0) * 1_000 : 0;
}
