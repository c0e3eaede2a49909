/** The table of problems: public texts that are whole, and retry advice that fits the status. */

import { expect, test } from "@jest/globals";
import { errors, problemCodes } from "../src/index.ts";

test.each(problemCodes)("%s has a title, two sentences and a fitting status", (code) => {
  const { status, title, happened, remedy, retry, retryAfterSeconds } = errors[code];
  expect(status).toBeGreaterThanOrEqual(400);
  expect(title).toMatch(/^[A-Z].*[^.]$/);
  expect(happened).toMatch(/^[A-Z].*\.$/);
  expect(remedy).toMatch(/^[A-Z].*\.$/);
  if (retry === "never") expect(retryAfterSeconds).toBeNull();
  if (status >= 500 || status === 429) expect(retry).toBe("later");
  if (status === 503) expect(retryAfterSeconds).toBeGreaterThan(0);
});
