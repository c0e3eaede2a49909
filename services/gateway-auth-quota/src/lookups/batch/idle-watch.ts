/** Ends what the client lets lie: no byte in either direction for a while, while it is the client's turn. */

export class IdleWatch {
  readonly #timer: NodeJS.Timeout;
  #activeAt = performance.now();

  /**
   * @param isClientsTurn silence counts only while this is true.
   * @param onIdle        called after each such silence, until `stop`.
   */
  constructor(idleMs: number, isClientsTurn: () => boolean, onIdle: () => void) {
    // Looked at so often that the bound is kept within a fifth of it.
    this.#timer = setInterval(
      () => {
        if (!isClientsTurn()) this.active();
        else if (performance.now() - this.#activeAt >= idleMs) {
          this.active();
          onIdle();
        }
      },
      Math.ceil(idleMs / 5),
    ).unref();
  }

  /** A byte has come or gone. */
  active(): void {
    this.#activeAt = performance.now();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
