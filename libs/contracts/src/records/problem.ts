/** A problem (RFC 9457), the body of every answer that is not a record. */

import Type, { type Static } from "typebox";
import { type ProblemCode, problemCodes } from "../errors.ts";
import { Count, member, NullableText, oneOf, record } from "../schema.ts";

/** One fault of the question: where it stands, and what would be right. */
export const ProblemItem = record({
  location: member(Type.String(), "Where it stands: `path.ip`, `query.limit`, a member of the body, or its line and column."),
  code: member(oneOf(problemCodes), "What is wrong; its meaning never changes."),
  message: member(Type.String(), "The same in words."),
  suggestion: Type.Optional(member(NullableText, "What would be right; absent or null where nobody can tell.")),
});
export type ProblemItem = Static<typeof ProblemItem>;

export const Problem = record({
  type: member(Type.String(), "URI reference of the page about this code, on this installation."),
  title: member(Type.String(), "The code in a few words; the same each time."),
  status: member(
    Type.Integer({ minimum: 400, maximum: 599 }),
    "HTTP status; of an item of a batch, that which its own route would answer.",
  ),
  code: member(oneOf(problemCodes), "What to act on; its meaning never changes within v1."),
  detail: member(Type.String(), "What happened this time, for people."),
  instance: member(Type.String(), "Path that was asked, without keys."),
  request_id: member(Type.String(), "Id of the request, as in `X-Request-Id`."),
  errors: Type.Optional(member(Type.Array(ProblemItem), "Each fault of the question; absent where it is not about the question.")),
  "violated-policies": Type.Optional(member(Type.Array(oneOf(["rate", "month", "concurrency"])), "The limits that refuse; only of 429.")),
  retry_after_seconds: Type.Optional(
    member(Count, "Seconds after which the same request may succeed; absent where waiting does not help."),
  ),
});
export type Problem = Static<typeof Problem>;

/** The body of a responder's reply with content type `problem`; the gateway adds what only the edge knows. */
export interface ResponderProblem {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly errors?: readonly ProblemItem[];
}
