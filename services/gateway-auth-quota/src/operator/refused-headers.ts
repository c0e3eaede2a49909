/** Headers of writes that a route cannot honour. Requests with them are refused, because their clients rely on them. */

import { ProblemError } from "@netfacts/contracts";
import type { FastifyRequest } from "fastify";

type CheckedRequest = Pick<FastifyRequest, "method" | "headers">;

/** @throws ProblemError for an `Idempotency-Key` on a write. Call it for routes that carry out a repeated request again. */
export function refuseIdempotencyKey(request: CheckedRequest): void {
  if (request.headers["idempotency-key"] === undefined || !isWrite(request)) return;
  const location = "header.idempotency-key";
  const message = "is not supported by this route, which carries out a repeated request again; send the request without it";
  throw new ProblemError("invalid_parameter", {
    detail: `${location} ${message}.`,
    errors: [{ location, code: "invalid_parameter", message }],
  });
}

/**
 * RFC 9110 §13.1: a write whose condition is false must not be carried out. The records of operators have no entity tags and no dates of
 * change, so no condition can be checked but `If-Match: *`, which is true for every record that exists.
 *
 * @throws ProblemError for any other condition on a write, and for every condition on a PUT, as a PUT also creates.
 */
export function refuseConditions(request: CheckedRequest): void {
  if (!isWrite(request)) return;
  const { headers, method } = request;
  const unmet = conditions.find(([name]) => headers[name] !== undefined && !isAnyRecord(name, headers[name], method));
  if (unmet === undefined) return;
  const detail = `Nothing was changed, because this route cannot check ${unmet[1]}. Send the request without it.`;
  throw new ProblemError("precondition_failed", { detail });
}

const conditions = [
  ["if-match", "If-Match"],
  ["if-none-match", "If-None-Match"],
  ["if-unmodified-since", "If-Unmodified-Since"],
] as const;

function isAnyRecord(name: string, value: string | undefined, method: string): boolean {
  return name === "if-match" && value?.trim() === "*" && method !== "PUT";
}

function isWrite({ method }: CheckedRequest): boolean {
  return method !== "GET" && method !== "HEAD";
}
