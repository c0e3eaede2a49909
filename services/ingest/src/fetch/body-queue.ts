/** The body of a response, read from its connection as it arrives: data that came before the connection broke are not lost. */

import type { IncomingMessage } from "node:http";

const waitingBytesMax = 1 << 20;

/** Call it in the same turn of the event loop in which the headers came. Yields every chunk that arrived, then ends or throws. Iterate once. */
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
