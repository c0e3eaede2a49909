/** Errors that callers are told of. */

import { expect, test } from "@jest/globals";
import { ProblemError } from "../src/index.ts";

test("faults of callers have no stack, and other errors keep theirs", () => {
  const frames = (error: Error) => error.stack?.match(/^\s+at /gm)?.length ?? 0;
  expect(frames(new ProblemError("batch_item_invalid", { detail: "The item is no object." }))).toBe(0);
  expect(frames(new ProblemError("internal_error"))).toBeGreaterThan(0);
  expect(frames(new Error("any other"))).toBeGreaterThan(0);
});
