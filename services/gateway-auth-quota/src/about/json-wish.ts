/** The query of a route that has no other parameter than `format`, and no other format than JSON. */

import type { FastifyRequest } from "fastify";
import { requireJson } from "../edge/accept.ts";
import { searchOf } from "../edge/search.ts";
import { QuestionReader } from "../lookups/question-reader.ts";

/** @throws ProblemError where the caller takes no JSON, which `format=json` says that it does, or the query has anything else. */
export function readJsonWish(request: FastifyRequest): void {
  const reader = new QuestionReader({}, searchOf(request), ["format"]);
  const format = reader.choice("format", ["json"]);
  if (format === null) requireJson(request);
  reader.finish();
}
