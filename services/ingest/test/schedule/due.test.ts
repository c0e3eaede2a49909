/** When a source is asked for again, and a try is made again: within bounds, never all at once, and as servers ask. */

import { expect, test } from "@jest/globals";
import { backoffMs, readRetryAfter } from "../../src/fetch/retry.ts";
import { afterFailure, afterSuccess, pauseMs } from "../../src/schedule/due.ts";

const least = () => 0;
const most = () => 1 - 1e-9;
const daily = { intervalSeconds: 86_400, fetch: {} };
const quarterly = { intervalSeconds: 900, fetch: {} };

test("after a success: an interval, give or take a twentieth, five minutes at most", () => {
  expect([least, most].map((random) => afterSuccess(quarterly, random))).toEqual([855_000, 945_000]);
  expect([least, most].map((random) => afterSuccess(daily, random))).toEqual([86_100_000, 86_700_000]);
});

test("a file is looked at every minute, or at its shorter interval, whether it was there or not", () => {
  expect(afterSuccess({ intervalSeconds: 86_400 }, least)).toBe(60_000);
  expect(afterSuccess({ intervalSeconds: 5 }, least)).toBe(5_000);
  expect(afterFailure({ intervalSeconds: 86_400 }, 7, 0, least)).toBe(60_000);
});

test("after failures: ever later up to the interval, at half of that at least, and not before the server wants it", () => {
  const at = (failures: number, random: () => number) => afterFailure(daily, failures, 0, random);
  expect([1, 2, 3, 11, 12, 4_000].map((failures) => at(failures, most))).toEqual([
    60_000, 120_000, 240_000, 61_440_000, 86_400_000, 86_400_000,
  ]);
  expect([1, 12].map((failures) => at(failures, least))).toEqual([30_000, 43_200_000]);
  expect(afterFailure(daily, 1, 600_000, most)).toBe(600_000);
  expect(afterFailure(daily, 4, 1_000, least)).toBe(240_000);
});

test("a server gets the pause that it asks for, up to a day or the interval", () => {
  const years = 2_000_000_000_000;
  expect([null, 7_200_000, years].map((asked) => pauseMs({ intervalSeconds: 3_600 }, asked))).toEqual([0, 7_200_000, 86_400_000]);
  expect(pauseMs({ intervalSeconds: 604_800 }, years)).toBe(604_800_000);
});

test("tries within a fetch: any time up to a bound that doubles, a minute at most", () => {
  expect([1, 2, 3, 4, 20].map((failures) => backoffMs(failures, most))).toEqual([2_000, 4_000, 8_000, 16_000, 60_000]);
  expect(backoffMs(5, least)).toBe(0);
});

test.each([
  ["120", 120_000],
  [" 5 ", 5_000],
  ["Sat, 21 Nov 2026 12:01:00 GMT", 60_000],
  ["Sat, 21 Nov 2026 11:59:00 GMT", null],
  ["0", null],
  ["-5", null],
  ["soon", null],
  ["", null],
  [undefined, null],
])("Retry-After %j asks for %j ms", (value, ms) => {
  expect(readRetryAfter(value, Date.parse("2026-11-21T12:00:00Z"))).toBe(ms);
});
