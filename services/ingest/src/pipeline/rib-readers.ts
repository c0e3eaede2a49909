/** Reads RIBs at once: large ones each in a thread of its own, as many as there are cores. */

import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { RibPaths } from "../assembly/rib-pass.ts";
import type { SourceConfig } from "../sources/index.ts";
import { type BytesListener, storedSize } from "./open-source.ts";
import type { ProgressListener } from "./progress.ts";
import { type ReadRib, type RibSource, readRib } from "./read-rib.ts";
import { UpdatesError } from "./read-updates.ts";
import type { FromRibThread } from "./rib-thread.ts";

export interface RibReading extends Omit<ReadRib, "paths"> {
  /** Rejects when the thread ends before it has told them. */
  paths(): Promise<RibPaths>;
}

/** A smaller file is read sooner than a thread starts. */
const threadBytesMinDefault = 1 << 20;

export interface RibReadersOptions {
  readonly onProgress: ProgressListener;
  readonly signal: AbortSignal;
  /** Size of the stored file from which on it is read in a thread. */
  readonly threadBytesMin?: number | undefined;
}

interface Thread {
  readonly source: RibSource;
  readonly reading: Promise<RibReading>;
  /** Bytes of the stored files, with those of updates as soon as these are known. */
  size: number;
  done: number;
}

export class RibReaders {
  readonly #threads = new Map<string, Thread>();
  readonly #workers = new Set<Worker>();
  readonly #options: RibReadersOptions;
  #free = Math.max(1, availableParallelism());
  readonly #waiting: (() => void)[] = [];
  #shown = false;
  #stopped = false;

  /** Starts reading what is read in threads. */
  constructor(sources: readonly RibSource[], options: RibReadersOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", () => void this.stop(), { once: true });
    const least = options.threadBytesMin ?? threadBytesMinDefault;
    for (const source of sources) {
      const size = storedSize(source.location);
      if (size === null || size < least) continue;
      const thread = { source, size, done: 0, reading: this.#start(source, (done, total) => this.#tell(source.name, done, total)) };
      // `read` reports the error.
      thread.reading.catch(() => undefined);
      this.#threads.set(source.name, thread);
    }
  }

  /** Whether the source is being read in a thread: what is read in this one may go first. */
  isThreaded({ name }: SourceConfig): boolean {
    return this.#threads.has(name);
  }

  /** Throws `SourceError` and `UpdatesError`, and for a thread instead of the first an error with its message. */
  async read(source: RibSource): Promise<RibReading> {
    const thread = this.#threads.get(source.name);
    const { onProgress, signal } = this.#options;
    // The thread reads the newest version; an earlier one is read here.
    if (thread !== undefined && thread.source.location === source.location) {
      this.#shown = true;
      this.#tell(source.name, thread.done, thread.size);
      return thread.reading;
    }
    const label = `read ${source.name}`;
    const rib = await readRib(source, (done, total) => onProgress({ label, done, total, unit: "bytes" }), signal);
    return { ...rib, paths: async () => rib.paths() };
  }

  /** Ends every thread; none is begun any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#workers].map((worker) => worker.terminate()));
  }

  /** Reports the progress of all threads as one, since their bytes come in no order. */
  #tell(name: string, done: number, total: number | null): void {
    const thread = this.#threads.get(name);
    if (thread === undefined) return;
    thread.done = done;
    thread.size = total ?? thread.size;
    if (!this.#shown) return;
    const threads = [...this.#threads.values()];
    const label = threads.length === 1 ? `read ${name}` : `read ${threads.length} RIBs`;
    const sum = (of: (one: Thread) => number) => threads.reduce((bytes, one) => bytes + of(one), 0);
    this.#options.onProgress({ label, done: sum((one) => one.done), total: sum((one) => one.size), unit: "bytes" });
  }

  async #start(source: RibSource, onBytes: BytesListener): Promise<RibReading> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free--;
    if (this.#stopped) throw new Error(`${source.location}: not read, because the run ended`);
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./rib-thread.${extension}`, import.meta.url), { workerData: source });
    this.#workers.add(worker);
    worker.once("exit", () => {
      this.#workers.delete(worker);
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    });
    return readingOf(worker, source, onBytes);
  }
}

function readingOf(worker: Worker, source: SourceConfig, onBytes: BytesListener): Promise<RibReading> {
  return new Promise((resolve, reject) => {
    let givePaths: (paths: RibPaths) => void = () => undefined;
    let failPaths: (error: Error) => void = () => undefined;
    const paths = new Promise<RibPaths>((give, fail) => {
      givePaths = give;
      failPaths = fail;
    });
    // Nobody may be waiting for them yet, or ever.
    paths.catch(() => undefined);
    const fail = (error: Error): void => {
      reject(error);
      failPaths(error);
    };
    // Nothing follows its last message, and what it may have left open must not keep it.
    const end = () => void worker.terminate();
    worker.on("message", (message: FromRibThread) => {
      if (message.kind === "bytes") onBytes(message.done, message.total);
      else if (message.kind === "paths") {
        givePaths(message.paths);
        end();
      } else if (message.kind === "failed") {
        fail(message.updates === null ? new Error(message.message) : new UpdatesError(message.message, message.updates.refused));
        end();
      } else {
        const { report, stored, table, updates, sample } = message;
        const bytes = stored.bytes + (updates?.stored.bytes ?? 0);
        onBytes(bytes, bytes);
        resolve({ report, stored, table, updates, sample, paths: () => paths });
      }
    });
    worker.once("error", (cause: Error) => fail(new Error(`${source.location}: its thread failed: ${cause.message}`, { cause })));
    worker.once("exit", (code) => fail(new Error(`${source.location}: its thread ended with code ${code}`)));
  });
}
