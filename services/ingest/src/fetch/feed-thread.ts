/** A thread that reads registry dumps and geofeeds: strangers choose how long that takes, and leases and requests do not wait for it. */

import { Worker } from "node:worker_threads";
import type { SourceConfig } from "../sources/index.ts";

/** One after the other. A file gets `secondsMax` by the clock, whatever its reader does meanwhile. */
export type FeedWork =
  | {
      readonly kind: "references";
      readonly path: string;
      readonly bounds: Pick<SourceConfig, "bytesMax" | "secondsMax" | "badRecordsMax">;
      readonly urlsMax: number;
    }
  | { readonly kind: "geofeed"; readonly path: string };

/** What a file has, or what is wrong with it. */
export type FileAnswer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** `ms`: the time that it took itself. `isThread`: not the file is wrong but the thread, or it took too long. */
export type FeedAnswer<T> = { readonly ms: number } & (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string; readonly isThread: boolean }
);

export interface FeedSize {
  readonly entries: number;
  /** Of `readFeedEntries`. */
  readonly effort: number;
}

/** The lists that it may have: a million references, or one geofeed. */
const heapMbMax = 512;

export class FeedThread {
  readonly #signal: AbortSignal;
  #worker: Worker | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  /** Starts nothing. @param signal  ends what is being read, and all that waits. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * Reads a file when those before it are read. After a failure of the thread the next file gets a new one.
   *
   * @throws the reason of `signal`.
   */
  read(work: FeedWork & { readonly kind: "references" }, secondsMax: number): Promise<FeedAnswer<string[]>>;
  read(work: FeedWork & { readonly kind: "geofeed" }, secondsMax: number): Promise<FeedAnswer<FeedSize>>;
  read(work: FeedWork, secondsMax: number): Promise<FeedAnswer<unknown>> {
    const reading = this.#turn.then(() => this.#read(work, secondsMax));
    this.#turn = reading.catch(() => undefined);
    return reading;
  }

  /** Ends the thread when all is read that was asked for. */
  async close(): Promise<void> {
    await this.#turn;
    await this.#worker?.terminate();
  }

  async #read(work: FeedWork, secondsMax: number): Promise<FeedAnswer<unknown>> {
    this.#signal.throwIfAborted();
    const started = performance.now();
    const worker = this.#worker ?? this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<FeedAnswer<unknown>>();
    const ms = () => performance.now() - started;
    const fail = (message: string) => resolve({ ok: false, message, isThread: true, ms: ms() });
    const hear = (answer: FileAnswer<unknown>) => resolve(answer.ok ? { ...answer, ms: ms() } : { ...answer, isThread: false, ms: ms() });
    const failWith = (error: Error) => fail(`the thread that reads it failed: ${error.message}`);
    const end = () => fail("the thread that reads it ended");
    const stop = () => reject(this.#signal.reason as Error);
    const timer = setTimeout(() => fail(`took longer than ${secondsMax} s to read`), secondsMax * 1_000);
    this.#signal.addEventListener("abort", stop);
    worker.on("message", hear).on("error", failWith).on("exit", end);
    worker.postMessage(work);
    let isFit = false;
    try {
      const answer = await promise;
      isFit = answer.ok || !answer.isThread;
      return answer;
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener("abort", stop);
      worker.off("message", hear).off("error", failWith).off("exit", end);
      if (!isFit) await worker.terminate();
    }
  }

  #start(): Worker {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const module = new URL(`./feed-worker.${extension}`, import.meta.url);
    const worker = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: heapMbMax } });
    const forget = (): void => {
      if (this.#worker === worker) this.#worker = null;
    };
    worker.once("error", forget).once("exit", forget);
    this.#worker = worker;
    return worker;
  }
}
