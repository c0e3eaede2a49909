/** What the soak takes for a leak, and for harm to polite callers. */

import { expect, test } from "@jest/globals";
import { isUnfair } from "../../scripts/soak/load.ts";
import { growthOf } from "../../scripts/soak/watch.ts";

const mebibyte = 1 << 20;
const isLeak = (values: readonly number[], name: "heap" | "open files" | "disk") =>
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

test("a log that is rotated at its bound is no leak; one that is not is", () => {
  const rotated = Array.from({ length: 60 }, (_, index) => (40 + (index % 7)) * mebibyte);
  const growing = Array.from({ length: 60 }, (_, index) => (40 + index) * mebibyte);
  expect([isLeak(rotated, "disk"), isLeak(growing, "disk")]).toEqual([[false], [true]]);
});

test("polite callers are harmed where abuse has more of them refused than a busy machine does", () => {
  const of = (refused: number, steps = 10_000) => ({ steps, refused });
  expect([isUnfair(of(0), of(10)), isUnfair(of(0), of(11))]).toEqual([false, true]);
  expect([isUnfair(of(20, 1_000), of(610)), isUnfair(of(20, 1_000), of(611))]).toEqual([false, true]);
  expect(isUnfair(of(0, 0), of(11))).toBe(true);
});

test("too few samples tell nothing", () => {
  expect(() => isLeak([1, 2], "heap")).toThrow("2 samples are too few");
});
