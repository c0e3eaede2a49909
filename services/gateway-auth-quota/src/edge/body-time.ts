/** Time limit for the body of a request. It replaces the limit of Node's server, which cannot except bodies that may last for hours. */

import type { FastifyInstance, FastifyRequest } from "fastify";
import { clientErrorHandler, holdsBody, type ProblemOptions } from "./problems.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Ends a request whose body is late; null: the request has no body, or its route limits the time itself. */
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
      // After the answer, the client would take a 408 for the answer to another request.
      reply.raw.once("finish", () => clearBodyTime(request));
    }
    done();
  });
  // The rest of an unread body would be read as the next request.
  app.addHook("onSend", (request, reply, payload, done) => {
    if (holdsBody(request) && !request.raw.complete) reply.header("connection", "close");
    done(null, payload);
  });
}

/** Ends the time limit: the route limits the body itself from now on. */
export function clearBodyTime(request: FastifyRequest): void {
  if (request.bodyTimer !== null) clearTimeout(request.bodyTimer);
  request.bodyTimer = null;
}
