/** What the soak takes for a leak. */

import { expect, test } from "@jest/globals";
import { growthOf } from "../../scripts/soak/watch.ts";

const mebibyte = 1 << 20;
const isLeak = (values: readonly number[], name: "heap" | "open files") =>
  growthOf(values.map((value) => ({ [name]: value }))).map((growth) => growth.isLeak);

test("a heap whose floor rises is a leak; one that fills and stays, or is collected late, is not", () => {
  const rising = Array.from({ length: 60 }, (_, index) => (100 + 2 * index) * mebibyte);
  const filled = Array.from({ length: 60 }, (_, index) => Math.min(200, 100 + 10 * index) * mebibyte);
  const collectedLate = Array.from({ length: 60 }, (_, index) => (100 + (index % 7) * 20) * mebibyte);
  expect(isLeak(rising, "heap")).toEqual([true]);
  expect(isLeak(filled, "heap")).toEqual([false]);
  expect(isLeak(collectedLate, "heap")).toEqual([false]);
});

test("files that stay open are one, a burst of them is not, and a figure that is missing proves nothing", () => {
  const base = Array.from({ length: 30 }, () => 50);
  expect(
    isLeak(
      base.map((value, index) => value + 3 * index),
      "open files",
    ),
  ).toEqual([true]);
  expect(
    isLeak(
      base.map((value, index) => value + (index === 25 ? 500 : 0)),
      "open files",
    ),
  ).toEqual([false]);
  expect(
    isLeak(
      base.map(() => Number.NaN),
      "open files",
    ),
  ).toEqual([true]);
});

test("too few samples tell nothing", () => {
  expect(() => isLeak([1, 2], "heap")).toThrow("2 samples are too few");
});
