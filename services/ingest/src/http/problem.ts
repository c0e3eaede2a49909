/** Refusals as problem+json (RFC 9457), from the one table of errors. */

import { errors, type ProblemError, problemBody, problemHeaders } from "@netfacts/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";

/** @param errorDocsBase  prefix of `type` */
export function sendProblem(problem: ProblemError, request: FastifyRequest, reply: FastifyReply, errorDocsBase: string): FastifyReply {
  const place = { instance: request.url.split("?", 1)[0] ?? "/", requestId: request.id, errorDocsBase };
  return reply
    .code(errors[problem.code].status)
    .headers(problemHeaders(problem, place))
    .send(JSON.stringify(problemBody(problem, place)));
}
