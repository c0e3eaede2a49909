/**
 * Lines for a pipe or a socket whose reader may stop reading. They wait in limited memory, without blocking; the newest are dropped if it is full.
 */

import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { DestinationStream } from "pino";

/** Limit of bytes that wait for the reader; further lines are dropped. */
const waitingBytesMax = 1 << 20;
/** Pause between two attempts while the reader does not read. */
const retryMs = 50;
/** Time that the reader gets at the end of the process for the lines that wait. */
const lastMs = 500;

/** Whether a write to it can wait for a reader without limit. */
export function isPipe(fd: number): boolean {
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}

export class PipeLines implements DestinationStream {
  readonly #fd: number;
  readonly #onDropped: (lines: number) => void;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #dropped = 0;
  #closed = false;

  /** @param onDropped  called with the number of dropped lines, when the reader reads again. */
  constructor(fd: number, onDropped: (lines: number) => void) {
    this.#fd = withoutBlocking(fd);
    this.#onDropped = onDropped;
  }

  /** @param text  whole lines. */
  write(text: string): void {
    if (this.#closed) return;
    const bytes = Buffer.from(text);
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes.length > waitingBytesMax) {
      const lines = text.split("\n").length - 1;
      this.#dropped += lines;
      droppedInAll += lines;
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#timer === undefined) this.#flush();
  }

  /** Writes the rest at the end of the process; lines that the reader does not read within half a second are lost. */
  end(): void {
    const deadline = performance.now() + lastMs;
    while (!this.#closed && this.#waiting.length > 0 && performance.now() < deadline) {
      this.#writeSome();
      if (this.#waiting.length > 0) Atomics.wait(pause, 0, 0, 5);
    }
  }

  #flush(): void {
    this.#timer = undefined;
    this.#writeSome();
    if (this.#closed) return;
    if (this.#waiting.length > 0) {
      this.#timer = setTimeout(() => this.#flush(), retryMs).unref();
    } else if (this.#dropped > 0) {
      const lines = this.#dropped;
      this.#dropped = 0;
      this.#onDropped(lines);
    }
  }

  #writeSome(): void {
    for (let bytes = this.#waiting[0]; bytes !== undefined; bytes = this.#waiting[0]) {
      let written: number;
      try {
        written = writeSync(this.#fd, bytes);
      } catch (error) {
        // If the reader is gone, the log ends, and not the service. Other failures are tried again.
        const { code } = error as NodeJS.ErrnoException;
        if (code === "EPIPE" || code === "EIO" || code === "EBADF" || code === "ECONNRESET") {
          this.#closed = true;
          this.#waiting = [];
        }
        return;
      }
      this.#waitingBytes -= written;
      if (written < bytes.length) this.#waiting[0] = bytes.subarray(written);
      else this.#waiting.shift();
    }
  }
}

/** Number of lines that were dropped since the start of the process because nobody read them. */
export function droppedLines(): number {
  return droppedInAll;
}

let droppedInAll = 0;

const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * A descriptor of the same pipe whose writes never block. It is opened again if the system allows this, so that other processes with the same pipe
 * keep theirs unchanged; otherwise ours is changed.
 */
function withoutBlocking(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // A socket cannot be opened again, and the pipe of another user may be protected. Opening the descriptor as a stream makes it non-blocking.
    try {
      new Socket({ fd, readable: false, writable: true }).on("error", () => {}).unref();
    } catch {
      // Then its writes may block, as before.
    }
    return fd;
  }
}
