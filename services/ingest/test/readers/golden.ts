/** Golden files: what a reader makes of a fixture, rewritten only by `npm run golden`. */

import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "@jest/globals";

export function expectGolden(path: string, value: unknown): void {
  const text = `${JSON.stringify(value, null, 2)}\n`;
  if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, "utf8"));
}
