/** Refusals as problem+json (RFC 9457), of the one table. */

import { errors, type Problem, type ProblemCode, type ProblemItem } from "@netfacts/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface ProblemFields {
  /** Public text; the table's where absent. */
  readonly detail?: string;
  readonly errors?: readonly ProblemItem[];
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only. */
  readonly cause?: unknown;
}

/** A refusal on its way to the caller. */
export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly code: ProblemCode;
  readonly fields: ProblemFields;

  constructor(code: ProblemCode, fields: ProblemFields = {}) {
    super(fields.detail ?? errors[code].happened, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = code;
    this.fields = fields;
  }
}

/** @param errorDocsBase what `type` begins with. */
export function sendProblem(problem: HttpProblem, request: FastifyRequest, reply: FastifyReply, errorDocsBase: string): FastifyReply {
  const { code, fields } = problem;
  const { status, title, retryAfterSeconds } = errors[code];
  const body: Problem = {
    type: errorDocsBase + code,
    title,
    status,
    code,
    detail: problem.message,
    instance: request.url.split("?", 1)[0] ?? "/",
    request_id: request.id,
    ...(fields.errors === undefined ? {} : { errors: [...fields.errors] }),
    ...(retryAfterSeconds === null ? {} : { retry_after_seconds: retryAfterSeconds }),
  };
  return reply
    .code(status)
    .headers({
      "content-type": "application/problem+json; charset=utf-8",
      "cache-control": "no-store",
      "x-request-id": request.id,
      ...(retryAfterSeconds === null ? {} : { "retry-after": String(retryAfterSeconds) }),
      ...fields.headers,
    })
    .send(JSON.stringify(body));
}
