/** Long work on one batch shares the event loop with all other requests. */

/** Work on what is at hand may keep the event loop this long. */
const turnMs = 2;

export class Turns {
  #start = performance.now();

  /** What went before was waiting. */
  begin(): void {
    this.#start = performance.now();
  }

  /** Call after each step. Null: go on; else wait for it. */
  next(): Promise<void> | null {
    return performance.now() - this.#start < turnMs ? null : this.#wait();
  }

  async #wait(): Promise<void> {
    await new Promise(setImmediate);
    this.begin();
  }
}
