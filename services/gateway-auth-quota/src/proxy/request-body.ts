/** Bodies in transit: never buffered whole, and read only as fast as the other side accepts them. */

import type { IncomingMessage } from "node:http";
import { PassThrough, type Readable } from "node:stream";

/** The body ended with its connection. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/**
 * The body as a separate stream, with the same back-pressure. Its destruction does not destroy the client's connection, which the answer
 * still needs. The end of that connection destroys it.
 */
export function detachedBody(body: Readable): PassThrough {
  const detached = new PassThrough();
  const broken = () => {
    if (!detached.writableEnded) detached.destroy(new ClientGoneError("the client disconnected before the end of its body"));
  };
  body.once("close", broken);
  body.once("error", broken);
  // The stream may have no reader any more when the client goes away.
  detached.on("error", () => {});
  detached.once("close", () => {
    body.off("close", broken);
    body.unpipe(detached);
  });
  body.pipe(detached);
  return detached;
}

/** Bytes that are discarded without pauses. An answer before the end of the body is lost if the connection closes with unread bytes. */
const atOnceBytes = 1 << 20;
/** The client may not have read the answer by then. So further bytes are discarded slowly, one piece after each pause. */
const pieceBytes = 1 << 16;
const pauseMs = 20;
const discardMsMax = 5_000;

interface DiscardOptions {
  /** Ends when no bytes come for this time. Default: the time limit of the whole, 5 s. */
  readonly quietMs?: number;
  /** Ends after 1 MiB, for callers that send the end of the answer only afterwards. */
  readonly isShort?: boolean;
}

/** Discards the rest of a body: 1 MiB without pauses, then 64 KiB every 20 ms, until the body ends, its connection closes, or 5 s have passed. */
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
    // A request that is answered emits no event when its connection ends.
    socket.once("close", done);
    request.resume();
  });
}
