/** The body of an answer, taken off its connection as it comes: what had arrived before the connection broke is not lost with it. */

import type { IncomingMessage } from "node:http";

const waitingBytesMax = 1 << 20;

/** To be called in the turn in which the answer's headers came. Yields every chunk that arrived, then ends or throws. Iterate once. */
export function bodyOf(response: IncomingMessage): AsyncIterable<Buffer> {
  const waiting: Buffer[] = [];
  let bytes = 0;
  const end: { isThere: boolean; error: Error | null } = { isThere: false, error: null };
  let wake: () => void = () => undefined;
  response.on("data", (chunk: Buffer) => {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes >= waitingBytesMax) response.pause();
    wake();
  });
  const ended = (error: Error | null): void => {
    if (!end.isThere) Object.assign(end, { isThere: true, error });
    wake();
  };
  response.once("end", () => ended(null));
  response.once("error", ended);
  response.once("close", () => ended(response.complete ? null : Object.assign(new Error("closed"), { code: "ECONNRESET" })));
  return (async function* () {
    for (;;) {
      const chunk = waiting.shift();
      if (chunk !== undefined) {
        bytes -= chunk.length;
        if (bytes < waitingBytesMax) response.resume();
        yield chunk;
      } else if (end.isThere) {
        if (end.error !== null) throw end.error;
        return;
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  })();
}
