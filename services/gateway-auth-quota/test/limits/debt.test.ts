/** Units that were admitted without the store: what is owed, what no counter will ever know of, and how many more there may be. */

import { expect, test } from "@jest/globals";
import { Debt } from "../../src/limits/debt.ts";

test("refunded units that were written off cannot be spent again, and may be owed again", () => {
  const debt = new Debt(5, () => {});
  debt.enterWindow(60);
  expect(debt.incur(5)).toBe(true);
  debt.writeOff(5);
  expect(debt.incur(1)).toBe(false);
  expect(debt.forgive(3)).toBe(3);
  expect(debt.incur(4)).toBe(false);
  expect(debt.incur(3)).toBe(true);
});

test("a window of another length and the same start has no allowance of its own; the next one has", () => {
  const debt = new Debt(5, () => {});
  debt.enterWindow(60);
  expect(debt.incur(5)).toBe(true);
  debt.enterWindow(60);
  expect([debt.owed, debt.incur(1)]).toEqual([5, false]);
  debt.enterWindow(120);
  expect([debt.owed, debt.incur(5)]).toEqual([0, true]);
});

test("a longer window that holds earlier ones has no allowance, nor have those when the length changes back", () => {
  const debt = new Debt(5, () => {});
  for (const start of [60, 70]) {
    debt.enterWindow(start);
    expect(debt.incur(4)).toBe(true);
  }
  debt.enterWindow(60);
  expect(debt.incur(1)).toBe(false);
  debt.enterWindow(70);
  expect(debt.incur(1)).toBe(false);
  debt.enterWindow(80);
  expect(debt.incur(5)).toBe(true);
});

test("after the store's clock was set back, each window has the allowance that it has not used", () => {
  const debt = new Debt(5, () => {});
  for (const [start, units] of [
    [60, 0],
    [70, 4],
    [80, 5],
  ] as const) {
    debt.enterWindow(start);
    debt.incur(units);
  }
  debt.enterWindow(60, true);
  expect(debt.incur(5)).toBe(true);
  debt.enterWindow(70);
  expect([debt.incur(2), debt.incur(1)]).toEqual([false, true]);
  debt.enterWindow(80);
  expect(debt.incur(1)).toBe(false);
  debt.enterWindow(90);
  expect(debt.incur(5)).toBe(true);
});
