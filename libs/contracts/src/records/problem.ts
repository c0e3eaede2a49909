/** A problem (RFC 9457), the body of every answer that is not a record. */

import Type, { type Static } from "typebox";
import { type ProblemCode, problemCodes } from "../errors.ts";
import { Count, NullableText, oneOf, record } from "../schema.ts";

/** One fault of the question: where it stands, and what would be right. */
export const ProblemItem = record({
  location: Type.String(),
  code: oneOf(problemCodes),
  message: Type.String(),
  suggestion: Type.Optional(NullableText),
});
export type ProblemItem = Static<typeof ProblemItem>;

export const Problem = record({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  code: oneOf(problemCodes),
  detail: Type.String(),
  instance: Type.String(),
  request_id: Type.String(),
  errors: Type.Optional(Type.Array(ProblemItem)),
  "violated-policies": Type.Optional(Type.Array(oneOf(["rate", "month"]))),
  retry_after_seconds: Type.Optional(Count),
});
export type Problem = Static<typeof Problem>;

/** The body of a responder's reply with content type `problem`; the gateway adds what only the edge knows. */
export interface ResponderProblem {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly errors?: readonly ProblemItem[];
}
