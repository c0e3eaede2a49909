/** Time for the body of a request to arrive: in place of the server's own bound, which knows no body that may go on for hours. */

import type { FastifyInstance, FastifyRequest } from "fastify";
import { clientErrorHandler, holdsBody, type ProblemOptions } from "./problems.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Ends a request whose body is not there in time; null: it has none, or its route bounds it by itself. */
    bodyTimer: NodeJS.Timeout | null;
  }
}

export function installBodyTime(app: FastifyInstance, timeoutMs: number, problems: ProblemOptions): void {
  const refuse = clientErrorHandler(problems);
  app.decorateRequest("bodyTimer", null);
  app.addHook("onRequest", (request, reply, done) => {
    const { raw } = request;
    if (holdsBody(request)) {
      request.bodyTimer = setTimeout(() => {
        if (!raw.complete) refuse(Object.assign(new Error("late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), raw.socket);
      }, timeoutMs);
      raw.once("close", () => clearBodyTime(request));
      // Once it is answered, a 408 would be taken for the answer to another request.
      reply.raw.once("finish", () => clearBodyTime(request));
    }
    done();
  });
  // A body that no route reads, and that has not come: it would be read as the next request.
  app.addHook("onSend", (request, reply, payload, done) => {
    if (holdsBody(request) && !request.raw.complete) reply.header("connection", "close");
    done(null, payload);
  });
}

/** The route bounds the body by itself from now on. */
export function clearBodyTime(request: FastifyRequest): void {
  if (request.bodyTimer !== null) clearTimeout(request.bodyTimer);
  request.bodyTimer = null;
}
