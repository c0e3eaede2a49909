/** Tells a server that is slow from one that does not answer: while an operation takes longer than a moment, the server is asked beside it. */

import { setTimeout as sleep } from "node:timers/promises";

/** An operation that has taken so long makes the server be asked whether it is there, and so again after each answer. */
const quietMs = 250;
/** As long as an operation on limits may take: a server that is further away serves none of them either. */
const answerMs = 500;
/** A silent server is asked so often. */
const againMs = 100;

export class Pulse {
  readonly #ask: () => Promise<unknown>;
  readonly #quietMs: number;
  readonly #answerMs: number;
  #heardAt = Number.NEGATIVE_INFINITY;
  #isSilent = false;
  #asking: Promise<boolean> | null = null;
  #closed = false;

  /**
   * @param ask  asks the server for anything that it answers at once.
   * @param patience  by which all times are multiplied.
   */
  constructor(ask: () => Promise<unknown>, patience = 1) {
    this.#ask = ask;
    this.#quietMs = quietMs * patience;
    this.#answerMs = answerMs * patience;
  }

  /** Whether it did not answer when it was asked, and nothing was heard of it since. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** An answer has come, of whatever operation and however late. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#isSilent = false;
  }

  /**
   * Watches while an operation is waited for.
   *
   * @param lost  called at most once, when the server is found to be silent: 750 ms after the last sign of it.
   * @returns ends the watching.
   */
  watch(lost: () => void): () => void {
    let hasEnded = false;
    const look = async (): Promise<void> => {
      const answers = await this.#answers();
      if (hasEnded) return;
      if (answers) timer = setTimeout(look, this.#quietMs);
      else lost();
    };
    let timer = setTimeout(look, this.#quietMs);
    return () => {
      hasEnded = true;
      clearTimeout(timer);
    };
  }

  close(): void {
    this.#closed = true;
  }

  /** Once for all who want to know at the same time. */
  #answers(): Promise<boolean> {
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #askOnce(): Promise<boolean> {
    const since = performance.now();
    const late = new AbortController();
    await Promise.race([this.#listen(), sleep(this.#answerMs, undefined, { signal: late.signal }).catch(() => undefined)]);
    late.abort();
    if (this.#heardAt >= since) return true;
    if (!this.#isSilent) void this.#untilHeard();
    return false;
  }

  /** A server that is silent is asked until it answers: nobody else asks it meanwhile. */
  async #untilHeard(): Promise<void> {
    this.#isSilent = true;
    while (this.#isSilent && !this.#closed) {
      void this.#listen();
      await sleep(againMs, undefined, { ref: false });
    }
  }

  async #listen(): Promise<void> {
    try {
      await this.#ask();
      this.heard();
    } catch {
      // That says nothing of the server; the next one may.
    }
  }
}
