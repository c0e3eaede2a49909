/** The reply of a responder that has no record to return. */

import { errors, type ProblemCode, type ProblemItem, type ResponderProblem, type TimeRange } from "@netfacts/contracts";
import type { ReplyItem } from "./types.ts";

/** The problem as the responder knows it; `detail` is public text and defaults to the text in the table of problems. */
export interface ProblemReplyInput {
  readonly code: ProblemCode;
  readonly detail?: string;
  readonly errors?: readonly ProblemItem[];
  readonly range?: TimeRange;
}

/** Costs the caller no unit of the month and is never cached. */
export function problemReply(input: ProblemReplyInput): ReplyItem {
  const entry = errors[input.code];
  const problem: ResponderProblem = {
    code: input.code,
    detail: input.detail ?? entry.happened,
    ...(input.errors === undefined ? {} : { errors: input.errors }),
    ...(input.range === undefined ? {} : { range: input.range }),
  };
  return {
    status: entry.status,
    contentType: "problem",
    body: Buffer.from(JSON.stringify(problem)),
    counted: false,
    cacheable: false,
    maxAgeSeconds: 0,
    etag: "",
    snapshotId: "",
  };
}
