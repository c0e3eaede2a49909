/**
 * Destinations of log lines. The lines of one event-loop turn, or of some milliseconds, are written together, as a write costs more than the rest of
 * a line.
 */

import { type DestinationStream, destination } from "pino";
import { isPipe, PipeLines } from "./pipe-lines.ts";

/** Limit of lines that wait because the disk is full; further lines are dropped. */
const waitingBytesMax = 1 << 20;

/** Limit of lines that wait for the end of a long turn. */
const turnCharsMax = 1 << 15;

/** Pause between two writes while lines keep coming. */
const pauseMs = 5;

const open = new Set<LinesOfTurn>();
const pipes = new Set<PipeLines>();
process.on("exit", () => {
  for (const lines of open) lines.flushSync();
  for (const pipe of pipes) pipe.end();
});

/**
 * A file descriptor or a path. Lines are written synchronously, at the end of their turn or some milliseconds after the last write. No line is lost
 * if the process ends by itself; if it is killed, or the engine ends it, the lines of its last milliseconds are lost. A pipe or a socket that nobody
 * reads blocks nothing: up to 1 MiB of lines wait, further ones are dropped.
 *
 * @param onDropped  called with the number of dropped lines, when the destination is read again.
 */
export function openDestination(dest: number | string, onDropped: (lines: number) => void): DestinationStream {
  if (typeof dest === "number" && isPipe(dest)) {
    const pipe = new PipeLines(dest, onDropped);
    pipes.add(pipe);
    return linesOfTurn(pipe);
  }
  return linesOfTurn(openStream(dest));
}

/** Writes lines to `to` together, like `openDestination`. */
export function linesOfTurn(to: DestinationStream): DestinationStream {
  const lines = new LinesOfTurn(to);
  open.add(lines);
  return lines;
}

/** @param mode  of a new file. */
export function openStream(dest: number | string, mode?: number): ReturnType<typeof destination> {
  const stream = destination({ dest, sync: true, mkdir: true, maxLength: waitingBytesMax, ...(mode !== undefined && { mode }) });
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    // If the terminal (EIO) or the reader (EPIPE) is gone, the log ends, and not the service. Other failures are tried again with the next lines.
    if (code === "EIO" || code === "EPIPE" || code === "EBADF") stream.write = () => true;
  });
  return stream;
}

class LinesOfTurn implements DestinationStream {
  readonly #to: DestinationStream;
  #text = "";
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(to: DestinationStream) {
    this.#to = to;
  }

  write(line: string): void {
    if (this.#text === "") this.#flushSoon();
    this.#text += line;
    if (this.#text.length > turnCharsMax) this.flushSync();
  }

  /** Pino calls this method by its name before a fatal line ends the process. */
  flushSync(): void {
    if (this.#text === "") return;
    const text = this.#text;
    this.#text = "";
    this.#writtenAt = performance.now();
    this.#to.write(text);
  }

  #flushSoon(): void {
    if (performance.now() - this.#writtenAt < pauseMs) setTimeout(() => this.flushSync(), pauseMs);
    else setImmediate(() => this.flushSync());
  }
}
