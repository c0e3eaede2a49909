/** Ends a batch whose client makes too little progress: whole items sent, or kibibytes read, in each period in which it is the client's turn. */

import { callEvenly } from "../../edge/even-calls.ts";

export interface ProgressOptions {
  /** Time in which the client must make the progress. Only its turn counts, and no time in which this process stood still. */
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
/** Samples that a period has, if all of them are the turn of the client. */
const samplesOfPeriod = 5;

export class ProgressWatch {
  readonly #options: ProgressOptions;
  readonly #timer: NodeJS.Timeout;
  #items = 0;
  #takenBefore: number;
  /** Samples at which it was the client's turn. They stand for the time, because a process that stands still takes none. */
  #samples = 0;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#takenBefore = options.takenBytes();
    this.#timer = callEvenly(Math.ceil(options.periodMs / samplesOfPeriod), () => this.#sample());
  }

  /** The client has sent a whole item. Blank bytes and parts of lines are none. */
  item(): void {
    this.#items += 1;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sample(): void {
    const { stepsMin, isClientsTurn, takenBytes, onStall } = this.#options;
    if (isClientsTurn()) this.#samples += 1;
    if (this.#samples < samplesOfPeriod) return;
    const taken = takenBytes();
    const steps = this.#items + Math.floor((taken - this.#takenBefore) / stepBytes);
    this.#samples = 0;
    this.#items = 0;
    this.#takenBefore = taken;
    if (steps < stepsMin) onStall();
  }
}
