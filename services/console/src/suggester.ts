/** Suggestions for a text while somebody types: when they are asked for, and which answer is shown. */

import { type Limits, NetfactsProblem } from "@netfacts/client";
import type { SearchResult } from "@netfacts/contracts";

export interface Suggestions {
  readonly items: readonly SearchResult[];
  /** Results that there are. */
  readonly total: number;
}

interface SuggesterOptions {
  readonly ask: (text: string, signal: AbortSignal) => Promise<Suggestions>;
  /** Limits of the key as of the last answer. */
  readonly limits: () => Limits | null;
  readonly show: (suggestions: Suggestions | null) => void;
}

/** A text is asked for when it has not changed for this time. */
const quietMs = 150;
/** After a failure that names no time. */
const pauseMs = 5_000;
/** No timer for a longer pause: the next letter looks whether it has ended. */
const timerMsMax = 120_000;
/** Units of the rate limit that are left to the pages: an address costs two. */
const unitsLeft = 3;
/** The key is unknown, may not search, or the gateway has no search: another try fails as well. */
const finalStatuses: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * Asks for one text at a time. What is shown is always the answer to the last text, or null.
 *
 * Failures are silent, because nobody asked for suggestions: the reader sees them on the page of results.
 */
export class Suggester {
  readonly #options: SuggesterOptions;
  #text: string | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked: AbortController | null = null;
  /** By the clock of the page; `Infinity`: for good. */
  #pausedUntil = 0;

  constructor(options: SuggesterOptions) {
    this.#options = options;
  }

  /** The text as it is now; null: nothing is to be suggested. */
  type(text: string | null): void {
    if (text === this.#text) return;
    this.#text = text;
    clearTimeout(this.#timer);
    this.#asked?.abort();
    this.#asked = null;
    const waitMs = Math.max(quietMs, this.#pausedUntil - performance.now());
    // Those for the previous text stay until the next ones are there, unless that takes long.
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

/** How long nothing is asked after an answer, in ms. @param failure  null: it succeeded. */
export function pauseMsAfter(failure: unknown, limits: Limits | null): number {
  if (failure instanceof NetfactsProblem) {
    if (finalStatuses.has(failure.status)) return Number.POSITIVE_INFINITY;
    return failure.retryAfterSeconds === null ? pauseMs : failure.retryAfterSeconds * 1_000;
  }
  if (failure !== null) return pauseMs;
  const rate = limits?.rate;
  return rate?.remaining != null && rate.remaining < unitsLeft ? (rate.resetSeconds ?? 0) * 1_000 : 0;
}
