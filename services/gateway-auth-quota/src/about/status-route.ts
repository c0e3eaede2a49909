/** `/status`: the sections in service. Needs no key, and answers 200 even while no snapshot is loaded. */

import { contentTypes, encodeQuestion, ProblemError, type StatusRecord, timestamp } from "@netfacts/contracts";
import type { FastifyRequest, RouteHandlerMethod } from "fastify";
import { contextOf, type Dispatcher } from "../lookups/dispatcher.ts";
import { readJsonWish } from "./json-wish.ts";

/** @param keptMs  time for which an answer is cached, in ms, so that many requests ask the service once. */
export function statusHandler(dispatcher: Dispatcher, clock: { now(): number }, keptMs: number): RouteHandlerMethod {
  let kept: { readonly parts: Promise<readonly string[]>; readonly until: number } | null = null;
  const ask = async (request: FastifyRequest): Promise<readonly string[]> => {
    const question = {
      op: "status",
      query: encodeQuestion("status", {}),
      units: 1,
      context: contextOf(request, null),
      pinnedSnapshot: null,
    } as const;
    const { body, ending } = await dispatcher.ask(question);
    return aroundRequestId(Buffer.concat([body, ending ?? Buffer.alloc(0)]).toString());
  };
  return async (request, reply) => {
    readJsonWish(request);
    reply.headers({ "content-type": contentTypes.json, "cache-control": "no-store" });
    try {
      if (kept === null || performance.now() >= kept.until) {
        const asked = { parts: ask(request), until: performance.now() + keptMs };
        kept = asked;
        // After a failure the next request asks again.
        asked.parts.catch(() => {
          if (kept === asked) kept = null;
        });
      }
      return reply.send((await kept.parts).join(request.id));
    } catch (error) {
      // Readiness is the subject of this route, so it is no error here.
      if (!(error instanceof ProblemError) || error.code !== "data_not_ready") throw error;
      return reply.send(JSON.stringify(notReady(request, clock.now())));
    }
  };
}

/** The record before and after the id of its request. A request id needs no escapes (`requestIdPattern`). */
function aroundRequestId(text: string): readonly string[] {
  const at = text.lastIndexOf('"meta":');
  const match = /"request_id":"[^"]*"/.exec(text.slice(at));
  if (at < 0 || match === null) return [text];
  const start = at + match.index + '"request_id":"'.length;
  return [text.slice(0, start), text.slice(text.indexOf('"', start))];
}

function notReady(request: FastifyRequest, now: number): StatusRecord {
  return { ready: false, sections: {}, meta: { request_id: request.id, generated_at: timestamp(now), data: {}, warnings: [] } };
}
