/** The rule of fair shares: what is free may be used, and who has less than a quarter comes first. */

import { expect, test } from "@jest/globals";
import { type Reserve, type Share, Shares } from "../src/index.ts";

function taken(shares: Shares, caller: string, wanted: number): Share[] {
  return Array.from({ length: wanted }, () => shares.enter(caller)).filter((share) => share !== null);
}

test("places that are given back soon: one caller leaves the last quarter free, and others find it", () => {
  const shares = new Shares(16, "kept free");
  expect(taken(shares, "greedy", 20)).toHaveLength(12);
  expect(taken(shares, "polite", 3)).toHaveLength(3);
  // What the others left is no longer there for one who has a quarter.
  expect(shares.mayEnter("greedy")).toBe(false);
  expect(taken(shares, "third", 3)).toHaveLength(1);
  expect(shares.used).toBe(16);
});

test("the surplus goes to others as soon as a place is given back", () => {
  const shares = new Shares(16, "kept free");
  const greedy = taken(shares, "greedy", 12);
  taken(shares, "polite", 3);
  for (const share of greedy.slice(0, 3)) {
    shares.leave(share);
    expect(shares.enter("greedy")).toBeNull();
    expect(shares.enter("third")).not.toBeNull();
  }
});

test("places that are taken back: a lone caller has all of them, and loses one for each that another asks for, down to a quarter", () => {
  const shares = new Shares(16, "taken back");
  const greedy = taken(shares, "greedy", 20);
  expect(greedy).toHaveLength(16);
  for (let polite = 1; polite <= 4; polite++) {
    expect(shares.enter("polite")).toBeNull();
    expect(shares.hasQuarter("polite")).toBe(false);
    expect(shares.surplus()).toBe("greedy");
    shares.leave(greedy.pop() as Share);
    expect(shares.enter("polite")).toMatchObject({ places: polite });
  }
  // Now it has its own quarter, and takes nothing from others.
  expect(shares.hasQuarter("polite")).toBe(true);
  for (const caller of ["third", "fourth"]) {
    for (let count = 0; count < 4; count++) {
      expect(shares.surplus()).toBe("greedy");
      shares.leave(greedy.pop() as Share);
      expect(shares.enter(caller)).not.toBeNull();
    }
  }
  expect(shares.surplus()).toBeNull();
});

test("of two who have too much, who has more loses", () => {
  const shares = new Shares(8, "taken back");
  taken(shares, "a", 3);
  taken(shares, "b", 5);
  expect(shares.surplus()).toBe("b");
});

test.each<Reserve>(["kept free", "taken back"])("few places, %s: one is enough for one caller, and given back it is free", (reserve) => {
  const shares = new Shares(1, reserve);
  const share = shares.enter("a") as Share;
  expect(share).not.toBeNull();
  expect(shares.enter("b")).toBeNull();
  shares.leave(share);
  expect(shares.enter("b")).not.toBeNull();
  expect(shares.callers).toBe(1);
});
