/** Distinguishes a slow server from one that does not answer: while an operation takes long, the server is pinged in parallel. */

import { setTimeout as sleep } from "node:timers/promises";

/** An operation that takes this long starts a ping; so does the same time after each answer. */
const quietMs = 250;
/** The time limit of an operation on limits: a server that needs longer cannot serve those either. */
const answerMs = 500;
/** Interval at which a silent server is pinged. */
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
   * @param ask  sends a request that the server answers at once.
   * @param patience  factor for all times.
   */
  constructor(ask: () => Promise<unknown>, patience = 1) {
    this.#ask = ask;
    this.#quietMs = quietMs * patience;
    this.#answerMs = answerMs * patience;
  }

  /** Whether the server did not answer the last ping, and has not been heard since. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** Call for every answer, of any operation and however late. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#isSilent = false;
  }

  /**
   * Watches the server while a caller waits for an operation.
   *
   * @param lost  called at most once, when the server is found to be silent: 750 ms times `patience` after the start or after the last answered ping.
   * @returns a function that ends the watching.
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

  /** One ping for all that ask at the same time. */
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

  /** Pings a silent server until it answers; nobody else sends it anything meanwhile. */
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
      // A failure says nothing about the server; the next ping may.
    }
  }
}
