/** A thread that has loaded its modules and waits for work, because loading them can take longer than the work. */

import { Worker, type WorkerOptions } from "node:worker_threads";

/** Threads of one module, each for one piece of work, which is the first message that it gets. At most one of them waits. */
export class SpareThread {
  readonly #module: URL;
  readonly #options: WorkerOptions;
  #waiting: Worker | null = null;
  #isClosed = false;

  /**
   * Starts nothing.
   *
   * @param module  what the threads run: it waits for a message, and a thread that waits for it keeps no process alive.
   */
  constructor(module: URL, options: WorkerOptions = {}) {
    this.#module = module;
    this.#options = options;
  }

  /** The thread that waits, else a new one. The caller ends it. */
  take(): Worker {
    const waiting = this.#waiting;
    if (waiting === null) return new Worker(this.#module, this.#options);
    this.#waiting = null;
    waiting.ref();
    return waiting;
  }

  /** Starts the thread for the next piece of work, unless one waits or this is closed. */
  prepare(): void {
    if (this.#isClosed || this.#waiting !== null) return;
    const thread = new Worker(this.#module, this.#options);
    // Whoever asks for work next starts a new one, and is told what is wrong.
    const forget = (): void => {
      if (this.#waiting === thread) this.#waiting = null;
    };
    thread.once("error", forget);
    thread.once("exit", forget);
    thread.unref();
    this.#waiting = thread;
  }

  /** Ends the thread that waits. Threads that were taken go on; none is prepared any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const waiting = this.#waiting;
    this.#waiting = null;
    await waiting?.terminate();
  }
}
