/** Bodies on their way through: never held, never read further than the other side takes them. */

import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";

/** The body ended with its connection. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/**
 * The body as a stream of its own, with the same back-pressure. Whoever destroys it does not destroy the client's connection, which an
 * answer must still go out on; the end of that connection does destroy it.
 */
export function detachedBody(body: Readable): PassThrough {
  const detached = new PassThrough();
  const broken = () => {
    if (!detached.writableEnded) detached.destroy(new ClientGoneError("the client disconnected before the end of its body"));
  };
  body.once("close", broken);
  body.once("error", broken);
  // Nobody may be reading any more when the client goes away.
  detached.on("error", () => {});
  detached.once("close", () => {
    body.off("close", broken);
    body.unpipe(detached);
  });
  body.pipe(detached);
  return detached;
}

/** An answer that came before the end of the body is lost when its connection closes on unread bytes: so many are thrown away as they come. */
const atOnceBytes = 1 << 20;
/** The sender may not have had the time to read the answer by then: the rest is read slowly, a piece after each pause. */
const pieceBytes = 1 << 16;
const pauseMs = 20;
const discardMsMax = 5_000;

interface DiscardOptions {
  /** Ends when nothing came for so long. Default: as late as everything else. */
  readonly quietMs?: number;
  /** Ends after 1 MiB, for whoever sends the end of the answer only then. */
  readonly isShort?: boolean;
}

/** Reads and forgets the rest of a body: 1 MiB as it comes, then 64 KiB each 20 ms, until it ends, its connection closes, or 5 s are over. */
export function discardBody(request: IncomingMessage, { quietMs = discardMsMax, isShort = false }: DiscardOptions = {}): Promise<void> {
  const { socket } = request;
  if (request.complete || request.destroyed || socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let left = atOnceBytes;
    let pause: NodeJS.Timeout | undefined;
    const done = () => {
      for (const timer of [late, quiet, pause]) clearTimeout(timer);
      request.off("data", count);
      socket.off("close", done);
      request.pause();
      resolve();
    };
    const count = (chunk: Uint8Array) => {
      left -= chunk.length;
      quiet.refresh();
      if (left > 0) return;
      if (isShort) return done();
      left = pieceBytes;
      request.pause();
      pause = setTimeout(() => request.resume(), pauseMs);
    };
    const late = setTimeout(done, discardMsMax);
    const quiet = setTimeout(done, quietMs);
    request.on("data", count);
    for (const event of ["end", "close", "error"]) request.once(event, done);
    // A request whose answer is out is not told of the end of its connection.
    socket.once("close", done);
    request.resume();
  });
}
