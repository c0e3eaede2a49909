/** Ends a batch whose client makes too little progress: whole items sent, or kibibytes read, in each period in which it is the client's turn. */

export interface ProgressOptions {
  /** Time in which the client must make the progress; only time in which it is the client's turn counts. */
  readonly periodMs: number;
  /** Items sent plus kibibytes read that are enough for a period. */
  readonly stepsMin: number;
  isClientsTurn(): boolean;
  /** Bytes of the answer that left for the client since its beginning. */
  takenBytes(): number;
  /** Called after each period with too little progress, until `stop`. */
  onStall(): void;
}

const stepBytes = 1_024;

export class ProgressWatch {
  readonly #options: ProgressOptions;
  readonly #timer: NodeJS.Timeout;
  #items = 0;
  #takenBefore: number;
  #waitedMs = 0;
  #sampledAt = performance.now();

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#takenBefore = options.takenBytes();
    // Sampled so often that the period is kept within a fifth of it.
    this.#timer = setInterval(() => this.#sample(), Math.ceil(options.periodMs / 5)).unref();
  }

  /** The client has sent a whole item. Blank bytes and parts of lines are none. */
  item(): void {
    this.#items += 1;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const { periodMs, stepsMin, isClientsTurn, takenBytes, onStall } = this.#options;
    const now = performance.now();
    if (isClientsTurn()) this.#waitedMs += now - this.#sampledAt;
    this.#sampledAt = now;
    if (this.#waitedMs < periodMs) return;
    const taken = takenBytes();
    const steps = this.#items + Math.floor((taken - this.#takenBefore) / stepBytes);
    this.#waitedMs = 0;
    this.#items = 0;
    this.#takenBefore = taken;
    if (steps < stepsMin) onStall();
  }
}
