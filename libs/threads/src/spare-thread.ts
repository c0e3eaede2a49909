/** A spare thread that has loaded its modules and waits for work, because loading them can take longer than the work. */

import { Worker, type WorkerOptions } from "node:worker_threads";

/** Threads of one module, each for one piece of work, which it receives as its first message. At most one spare thread waits. */
export class SpareThread {
  readonly #module: URL;
  readonly #options: WorkerOptions;
  #waiting: Worker | null = null;
  #isClosed = false;

  /**
   * Does not start a thread.
   *
   * @param module  the module of the threads: it waits for a message, and a waiting thread does not keep the process alive.
   */
  constructor(module: URL, options: WorkerOptions = {}) {
    this.#module = module;
    this.#options = options;
  }

  /** The spare thread, or otherwise a new one. The caller ends it. */
  take(): Worker {
    const waiting = this.#waiting;
    if (waiting === null) return new Worker(this.#module, this.#options);
    this.#waiting = null;
    waiting.ref();
    return waiting;
  }

  /** Starts the spare thread, unless there is one or this is closed. */
  prepare(): void {
    if (this.#isClosed || this.#waiting !== null) return;
    const thread = new Worker(this.#module, this.#options);
    // The next caller of `take` then starts a new one, which reports the fault.
    const forget = (): void => {
      if (this.#waiting === thread) this.#waiting = null;
    };
    thread.once("error", forget);
    thread.once("exit", forget);
    thread.unref();
    this.#waiting = thread;
  }

  /** Ends the spare thread. Threads that were taken go on; no more are prepared. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const waiting = this.#waiting;
    this.#waiting = null;
    await waiting?.terminate();
  }
}
