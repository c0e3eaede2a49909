/** Headers of writes that promise what a route cannot keep. They are refused, because a client that sends them relies on them. */

import { ProblemError } from "@netfacts/contracts";
import type { FastifyRequest } from "fastify";

type Asked = Pick<FastifyRequest, "method" | "headers">;

/** @throws ProblemError for an `Idempotency-Key` on a write. Call it for routes that carry out a repeated request again. */
export function refuseIdempotencyKey(request: Asked): void {
  if (request.headers["idempotency-key"] === undefined || !isWrite(request)) return;
  const location = "header.idempotency-key";
  const message = "is not supported by this route, which carries out a repeated request again; send the request without it";
  throw new ProblemError("invalid_parameter", {
    detail: `${location} ${message}.`,
    errors: [{ location, code: "invalid_parameter", message }],
  });
}

function isWrite({ method }: Asked): boolean {
  return method !== "GET" && method !== "HEAD";
}
