/** A thread that reads registry dumps and geofeeds. Strangers choose how long this takes; leases and requests do not wait for it. */

import { Worker } from "node:worker_threads";
import type { SourceConfig } from "../sources/index.ts";

/** Work for one file; files are read one after the other. A timer on this side enforces `secondsMax`, whatever the reader does. */
export type FeedWork =
  | {
      readonly kind: "references";
      readonly path: string;
      readonly bounds: Pick<SourceConfig, "bytesMax" | "secondsMax" | "badRecordsMax">;
      readonly urlsMax: number;
    }
  | { readonly kind: "geofeed"; readonly path: string };

/** The content of a file, or what is wrong with it. */
export type FileAnswer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

/** `ms`: time of this file alone. `isThread`: the thread failed or took too long, so that the file may be good. */
export type FeedAnswer<T> = { readonly ms: number } & (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string; readonly isThread: boolean }
);

export interface FeedSize {
  readonly entries: number;
  /** As in `readFeedEntries`. */
  readonly effort: number;
}

/** Enough for a million references, or for the entries of one geofeed. */
const heapMbMax = 512;

export class FeedThread {
  readonly #signal: AbortSignal;
  #worker: Worker | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  /** Starts nothing. @param signal  ends the file that is being read, and all that wait */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /**
   * Reads a file after those before it. After a failure of the thread, the next file gets a new thread.
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

  /** Ends the thread when all requested files are read. */
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
