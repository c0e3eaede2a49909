/** How the answer of a batch ends when its time is over, or when the rest of its body is not read. */

import type { ServerResponse } from "node:http";
import { ProblemError } from "@netfacts/contracts";
import type { FastifyRequest } from "fastify";
import { discardBody } from "../../proxy/request-body.ts";
import type { BatchRun } from "./batch-run.ts";
import type { BodySource } from "./body-source.ts";

/** A client that sends nothing for so long has nothing on the way. */
const quietMs = 250;
/** An answer whose batch has used up its time is cut off after this, if it is still not read. */
const lateReadMs = 30_000;

/**
 * Ends a stream of lines that lasts longer than `ms`: no more of it is read, and its last line says so.
 *
 * @returns the timer, to be cleared when the batch ends before.
 */
export function endAfter(ms: number, source: BodySource, response: ServerResponse): NodeJS.Timeout {
  const detail = `The batch took longer than ${Math.round(ms / 1_000)} s. Send the items without a result in another batch.`;
  return setTimeout(() => {
    source.fail(new ProblemError("request_timeout", { detail }));
    const cut = setTimeout(() => response.destroy(), lateReadMs).unref();
    response.once("close", () => clearTimeout(cut));
  }, ms).unref();
}

/** Ends an answer whose body is not read to its end. Reads on, and discards, just as long as it takes that the answer is not lost with the body. */
export async function hangUp(request: FastifyRequest, response: ServerResponse, run: BatchRun): Promise<void> {
  // A connection that closes with the answer would close on unread bytes: the client then gets a reset, and may lose the answer.
  if (!response.shouldKeepAlive) await discardBody(request.raw, { quietMs, isShort: true });
  run.end();
  await discardBody(request.raw);
  // What the compressor still holds would be lost.
  await ended(response);
  // An answer that has ended has no socket any more.
  if (!request.raw.complete) request.raw.socket.destroySoon();
}

/** Calls `then` when the response closes; at once if it has closed already, because the client went away while its key was looked up. */
export function whenClosed(response: ServerResponse, then: () => void): void {
  if (response.closed) then();
  else response.once("close", then);
}

/** Resolves when nothing more is written to the response. */
async function ended(response: ServerResponse): Promise<void> {
  if (response.writableEnded || response.closed) return;
  await new Promise((resolve) => {
    response.once("finish", resolve);
    response.once("close", resolve);
  });
}
