/** What a process has opened, and the order in which it is closed. */

/** Steps that close things, in the order in which these were opened. */
export class Closing {
  readonly #steps: (() => Promise<void> | void)[] = [];
  readonly #begun = new AbortController();

  /** Aborted as soon as the process stops, even while it is starting. */
  get signal(): AbortSignal {
    return this.#begun.signal;
  }

  /** Adds a step; if the process is stopping already, runs it at once. */
  add(step: () => Promise<void> | void): void {
    this.#steps.push(step);
    if (this.signal.aborted) void this.run();
  }

  /** Runs the steps one after the other, latest first. Rejects with the first fault, after all steps have run. */
  async run(): Promise<void> {
    this.#begun.abort();
    const faults: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw faults[0];
  }

  /**
   * Starts the process. If that fails, runs the steps, and rejects with the fault of the start. Resolves if the process was stopped meanwhile, which
   * may well make the start fail.
   */
  async start(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.signal.aborted) return;
      // The start failed first: what does not close now may be a consequence.
      await this.run().catch(() => {});
      throw error;
    }
  }
}
