/** Where log lines go: those of one event-loop turn, or of a moment, leave together, as a write costs more than all else of a line. */

import { type DestinationStream, destination } from "pino";
import { isPipe, PipeLines } from "./pipe-lines.ts";

/** Lines that a full disk refuses wait for space up to this; what comes then is dropped. */
const waitingBytesMax = 1 << 20;

/** Lines of a long turn wait for its end up to this. */
const turnCharsMax = 1 << 15;

/** Between two writes while lines keep coming. */
const pauseMs = 5;

const open = new Set<LinesOfTurn>();
const pipes = new Set<PipeLines>();
process.on("exit", () => {
  for (const lines of open) lines.flushSync();
  for (const pipe of pipes) pipe.end();
});

/**
 * A file descriptor or a path that lines are written to, synchronously, at the end of the turn that they come in, or some milliseconds
 * after the last write. Whatever way the process ends by itself, none is lost; where it is killed, or ended by the engine, those of its
 * last milliseconds are. A pipe or a socket that nobody reads holds up nobody: up to 1 MiB of lines wait, further ones are dropped.
 *
 * @param onDropped  told how many lines were dropped, once they are read again.
 */
export function openDestination(dest: number | string, onDropped: (lines: number) => void): DestinationStream {
  if (typeof dest === "number" && isPipe(dest)) {
    const pipe = new PipeLines(dest, onDropped);
    pipes.add(pipe);
    return linesOfTurn(pipe);
  }
  return linesOfTurn(openStream(dest));
}

/** Lines leave for `to` together, as those of `openDestination` do. */
export function linesOfTurn(to: DestinationStream): DestinationStream {
  const lines = new LinesOfTurn(to);
  open.add(lines);
  return lines;
}

/** @param mode  of a file that is made. */
export function openStream(dest: number | string, mode?: number): ReturnType<typeof destination> {
  const stream = destination({ dest, sync: true, mkdir: true, maxLength: waitingBytesMax, ...(mode !== undefined && { mode }) });
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    // A closed terminal (EIO) or reader (EPIPE) ends the log, not the service. Anything else is tried again with the next lines.
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

  /** By this name pino calls it before a fatal line ends the process. */
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
