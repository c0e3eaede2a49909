/** How long counters of limits are kept. */

import { expect, test } from "@jest/globals";
import { windowAt } from "../../src/domain/limit-windows.ts";
import { counterEndMs } from "../../src/limits/counter-times.ts";

test("a counter outlives its window by an hour, and that of a longer window by its length, in case the store's clock is ahead", () => {
  const now = Date.UTC(2026, 10, 21, 9);
  const hoursAfter = (seconds: number | null) => (counterEndMs(windowAt(seconds, now)) - windowAt(seconds, now).endMs) / 3_600_000;
  expect([1, 60, 3_600, 7_200, 86_400, null].map(hoursAfter)).toEqual([1, 1, 1, 2, 24, 30 * 24]);
});
