/** Lines to a pipe or a socket whose reader may stop reading: they wait in bounded memory, the newest are dropped, and nobody waits for them. */

import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import type { DestinationStream } from "pino";

/** Bytes that wait for the reader; lines beyond are dropped. */
const waitingBytesMax = 1 << 20;
/** Between two tries while the reader does not read. */
const retryMs = 50;
/** At the end of the process the reader has so long to take what waits. */
const lastMs = 500;

/** Whether writes to it can wait for a reader without end. */
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

  /** @param onDropped  told how many lines were dropped, once their reader reads again. */
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

  /** What the reader does not take within half a second is lost: for the end of the process. */
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
        // A reader that is gone ends the log, not the service. Anything else is tried again.
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

/** Lines that were dropped since the process started, because nobody read them. */
export function droppedLines(): number {
  return droppedInAll;
}

let droppedInAll = 0;

const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * A descriptor of the same pipe whose writes never wait. Opened anew where the system allows it, so that other processes with the same pipe
 * keep theirs as it is; else ours is changed.
 */
function withoutBlocking(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // A socket cannot be opened anew, and a pipe of another user may not: opening it as a stream makes it non-blocking.
    try {
      new Socket({ fd, readable: false, writable: true }).on("error", () => {}).unref();
    } catch {
      // Its writes may wait then, as before.
    }
    return fd;
  }
}
