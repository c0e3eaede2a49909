/** Answers that are ready before the end of a body: they must arrive, although the rest of the body is not wanted. */

import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { discardBody } from "../proxy/request-body.ts";
import { isBodyWithheld } from "./body-permission.ts";
import { holdsBody } from "./problems.ts";

/** Sends such an answer at once, and keeps the connection open until part of the rest of the body was discarded. */
export function outliveRefusedBodies(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const { raw } = request;
    const hasRest = !raw.complete && holdsBody(request);
    if (!hasRest || isBodyWithheld(raw) || !(typeof payload === "string" || payload instanceof Readable)) return payload;
    if (typeof payload === "string") reply.header("content-length", Buffer.byteLength(payload));
    reply.header("connection", "close");
    return Readable.from(thenDiscard(payload, raw), { objectMode: false });
  });
}

async function* thenDiscard(payload: string | Readable, request: Parameters<typeof discardBody>[0]) {
  if (typeof payload === "string") yield payload;
  else yield* payload;
  await discardBody(request);
}
