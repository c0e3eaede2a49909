/** Tests of problems: each names the code that it provokes; the gateway's test of all codes finds them by that. */

import { expect, test } from "@jest/globals";
import { errors, headers, Problem, type ProblemCode } from "@netfacts/contracts";
import { Value } from "typebox/value";
import type { HttpAnswer } from "./service.ts";

/** Registers a test: what `act` answers must be a whole and true problem of this code. */
export function provokes(code: ProblemCode, sentence: string, act: () => Promise<HttpAnswer>): void {
  test(`${code}: ${sentence}`, async () => {
    expectProblem(await act(), code);
  });
}

export function expectProblem(answer: HttpAnswer, code: ProblemCode): Problem {
  const problem = JSON.parse(answer.body) as Problem;
  const { status, title } = errors[code];
  expect(problem.code).toBe(code);
  expect([...Value.Errors(Problem, problem)]).toEqual([]);
  expect(answer.status).toBe(status);
  expect(problem).toMatchObject({ status, title, type: `/docs/errors/${code}` });
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(answer.headers[headers.requestId]).toBe(problem.request_id);
  expect(answer.headers[headers.retryAfter]).toBe(problem.retry_after_seconds?.toString());
  return problem;
}
