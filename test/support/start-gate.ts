/** Decides when the next test file may start: at once while few run, and otherwise when processors and memory are free. */

import { availableParallelism, cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

export interface Machine {
  /** Number of processors that this process may use. */
  readonly processors: number;
  /** Time that the processors have been idle since they were started, their sum, in ms. */
  idleMs(): number;
  /** Memory that programs can still take, in bytes. */
  freeBytes(): number;
  /** A clock that only goes forward, in ms. */
  nowMs(): number;
  sleep(ms: number): Promise<unknown>;
}

/** Memory of a worker and what it starts. */
const workerBytes = 2 ** 30;
/** From so much free memory on, four files run in place of three. */
const fourFilesBytes = 6 * workerBytes;
/** The most files are so many more than there are processors. */
const moreFiles = 3;
/** The machine is watched for so long before one more file starts. The one that started before it is at work by then. */
const windowMs = 1_500;
/** Number of processors that must have been idle in this time. */
const idleProcessors = 0.4;
/** Memory that must be free. A file and its programs take about a third of it. */
const bytesMin = 3 * 2 ** 30;
const pollMs = 25;

const thisMachine: Machine = {
  processors: availableParallelism(),
  // If only some of the processors are for this process, the others being idle says nothing.
  idleMs: () => (cpus().length > availableParallelism() ? 0 : cpus().reduce((sum, { times }) => sum + times.idle, 0)),
  freeBytes: () => process.availableMemory(),
  nowMs: () => performance.now(),
  sleep,
};

/** Number of files that run however busy the processors are. A file waits for about half of its time. */
function alwaysFiles({ processors, freeBytes }: Machine): number {
  return processors > 1 && freeBytes() >= fourFilesBytes ? 4 : 3;
}

/** Most files that may run at the same time. Jest starts as many workers, which stay. */
export function filesMax(machine: Machine = thisMachine): number {
  const byMemory = Math.floor(machine.freeBytes() / workerBytes);
  return Math.max(alwaysFiles(machine), Math.min(machine.processors + moreFiles, byMemory));
}

export class StartGate {
  readonly #machine: Machine;
  readonly #alwaysFiles: number;
  #running = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(machine: Machine = thisMachine) {
    this.#machine = machine;
    this.#alwaysFiles = alwaysFiles(machine);
  }

  /** Resolves when the caller's file may start, in the order of the calls. */
  enter(): Promise<void> {
    this.#last = this.#last.then(() => this.#mayStart());
    return this.#last;
  }

  /** Must be called when a file has ended. */
  leave(): void {
    this.#running--;
  }

  async #mayStart(): Promise<void> {
    while (this.#running >= this.#alwaysFiles && !(await this.#isIdle()));
    this.#running++;
  }

  /** Watches the machine for a window of time, which ends early when a file ends and its place is free at once. */
  async #isIdle(): Promise<boolean> {
    const { idleMs, freeBytes, nowMs, sleep } = this.#machine;
    const from = nowMs();
    const idleBefore = idleMs();
    while (nowMs() - from < windowMs) {
      await sleep(pollMs);
      if (this.#running < this.#alwaysFiles) return true;
    }
    return idleMs() - idleBefore >= idleProcessors * (nowMs() - from) && freeBytes() >= bytesMin;
  }
}
