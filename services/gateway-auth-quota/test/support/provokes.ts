/** Tests of problems: each names the code that it provokes, so that a code without a test is found (`every-code.test.ts`). */

import { expect, test } from "@jest/globals";
import { errors, headers, Problem, type ProblemCode } from "@netfacts/contracts";
import { Value } from "typebox/value";
import type { HttpAnswer } from "./gateway.ts";

/** Registers a test: what `act` answers must be a whole and true problem of this code. */
export function provokes(code: ProblemCode, sentence: string, act: () => Promise<HttpAnswer>): void {
  test(`${code}: ${sentence}`, async () => {
    expectProblem(await act(), code);
  });
}

/** The problem in the answer, after checking everything that holds for each of this code. */
export function expectProblem(answer: HttpAnswer, code: ProblemCode): Problem {
  const problem = JSON.parse(answer.body) as Problem;
  const entry = errors[code];
  expect(problem.code).toBe(code);
  expect([...Value.Errors(Problem, problem)]).toEqual([]);
  expect(answer.status).toBe(entry.status);
  expect(problem).toMatchObject({ status: entry.status, title: entry.title, type: `/docs/errors/${code}` });
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(answer.headers[headers.requestId]).toBe(problem.request_id);
  expect(answer.headers[headers.retryAfter]).toBe(problem.retry_after_seconds?.toString());
  if (entry.retryAfterSeconds !== null) expect(problem.retry_after_seconds).toBeGreaterThan(0);
  if (entry.status === 401) expect(answer.headers[headers.authenticate]).toMatch(/^Bearer realm="netfacts"/);
  // No key, secret part included, is ever told.
  expect(JSON.stringify(answer)).not.toMatch(/nf_(live|test)_[0-9A-Z]{8}_[0-9A-Za-z]{8}/);
  return problem;
}
