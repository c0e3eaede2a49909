/** An answer of lines of JSON that are made while they are read. */

import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";

/** Sends them; what fails before the first ones is a problem, as the status is sent with them. */
export async function sendLines(reply: FastifyReply, lines: AsyncGenerator<string, void>): Promise<FastifyReply> {
  const first = await lines.next();
  async function* text() {
    try {
      if (first.done !== true) yield first.value;
      yield* lines;
    } finally {
      await lines.return();
    }
  }
  reply.headers({ "content-type": "application/x-ndjson; charset=utf-8", "cache-control": "no-store" });
  return reply.send(Readable.from(text(), { objectMode: false }));
}
