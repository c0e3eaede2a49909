/** `/status`: the sections in service. Open to all, and an answer also while nothing is loaded. */

import { contentTypes, encodeQuestion, ProblemError, type StatusRecord, timestamp } from "@netfacts/contracts";
import type { FastifyRequest, RouteHandlerMethod } from "fastify";
import { askerOf, type Dispatcher } from "../lookups/dispatcher.ts";
import { readJsonWish } from "./json-wish.ts";

export function statusHandler(dispatcher: Dispatcher, clock: { now(): number }): RouteHandlerMethod {
  return async (request, reply) => {
    readJsonWish(request);
    reply.headers({ "content-type": contentTypes.json, "cache-control": "no-store" });
    try {
      const asking = {
        op: "status",
        query: encodeQuestion("status", {}),
        units: 1,
        asker: askerOf(request, null),
        pinnedSnapshot: null,
      } as const;
      return reply.send((await dispatcher.ask(asking)).body);
    } catch (error) {
      // Not being ready is what this route is asked about.
      if (!(error instanceof ProblemError) || error.code !== "data_not_ready") throw error;
      return reply.send(JSON.stringify(notReady(request, clock.now())));
    }
  };
}

function notReady(request: FastifyRequest, now: number): StatusRecord {
  return { ready: false, sections: {}, meta: { request_id: request.id, generated_at: timestamp(now), data: {}, warnings: [] } };
}
