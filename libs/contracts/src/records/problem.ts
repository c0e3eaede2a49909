/** A problem (RFC 9457), the body of every answer that is not a record. */

import Type, { type Static } from "typebox";
import { type ProblemCode, problemCodes } from "../errors.ts";
import type { FactsOf } from "../facts/fact.ts";
import { seconds } from "../facts/units.ts";
import { Count, member, NullableText, oneOf, record, Timestamp } from "../schema.ts";

/** One fault in the question: where it is, and what would be right. */
export const ProblemItem = record({
  location: member(
    Type.String(),
    "Location of the error: `path.ip`, `query.limit`, a member of the body, or a line and column of the body.",
  ),
  code: member(oneOf(problemCodes), "Code of the error. Its meaning never changes."),
  message: member(Type.String(), "Explanation of the error."),
  suggestion: Type.Optional(
    member(
      NullableText,
      "A corrected value, or the path of the route to use instead, which starts with `/`; absent or null if there is none.",
    ),
  ),
});
export type ProblemItem = Static<typeof ProblemItem>;

export const Problem = record({
  type: member(Type.String(), "URI reference of the documentation of this code, on this server."),
  title: member(Type.String(), "Short summary of the code, always the same."),
  status: member(
    Type.Integer({ minimum: 400, maximum: 599 }),
    "HTTP status; for a batch item, the status that its own route would return.",
  ),
  code: member(oneOf(problemCodes), "Code for programs to act on. Its meaning never changes within v1."),
  detail: member(Type.String(), "Explanation of this occurrence, for people."),
  instance: member(Type.String(), "Path of the request, without keys."),
  request_id: member(Type.String(), "Id of the request, as in `X-Request-Id`."),
  errors: Type.Optional(member(Type.Array(ProblemItem), "Errors in the request; absent if the request itself is not at fault.")),
  "violated-policies": Type.Optional(
    member(Type.Array(oneOf(["rate", "month", "concurrency"])), "Limits that were exceeded; only with status 429."),
  ),
  earliest: Type.Optional(member(Timestamp, "Earliest time that `as_of` may have; only with `as_of_out_of_range`.")),
  latest: Type.Optional(member(Timestamp, "Time of the latest publication; only with `as_of_out_of_range`.")),
  retry_after_seconds: Type.Optional(member(Count, "Seconds after which the same request may succeed; absent if waiting does not help.")),
});
export type Problem = Static<typeof Problem>;

/** The body of a responder's reply with content type `problem`. The gateway adds what only it knows. */
export interface ResponderProblem {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly errors?: readonly ProblemItem[];
  readonly range?: TimeRange;
}

/** Times of the first and the last publication that is kept. */
export interface TimeRange {
  readonly earliest: string;
  readonly latest: string;
}

export const problemFacts: FactsOf<Problem> = {
  type: "gateway",
  title: "gateway",
  status: { from: "gateway", unit: "HTTP status" },
  code: "gateway",
  detail: ["gateway", "service"],
  instance: "request",
  request_id: ["request", "gateway"],
  errors: { location: "request", code: "gateway", message: ["gateway", "service"], suggestion: ["request", "gateway"] },
  "violated-policies": "counters",
  earliest: { from: "snapshot", example: "2026-10-22T08:00:00Z" },
  latest: { from: "snapshot", example: "2026-11-21T08:55:00Z" },
  retry_after_seconds: { from: "gateway", unit: seconds, example: 37 },
};
