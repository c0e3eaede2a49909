/** The query of a route whose only parameter is `format`, and whose only format is JSON. */

import type { FastifyRequest } from "fastify";
import { requireJson } from "../edge/accept.ts";
import { searchOf } from "../edge/search.ts";
import { QuestionReader } from "../lookups/question-reader.ts";

/** @throws ProblemError if the query has anything else, or if the caller does not accept JSON; `format=json` accepts it. */
export function readJsonWish(request: FastifyRequest): void {
  const reader = new QuestionReader({}, searchOf(request), ["format"]);
  const format = reader.choice("format", ["json"]);
  if (format === null) requireJson(request);
  reader.finish();
}
