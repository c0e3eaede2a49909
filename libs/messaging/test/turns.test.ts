/** Turns of the event loop. */

import { expect, test } from "@jest/globals";
import { nextTurn, shortWorkDone } from "../src/turns.ts";

test("each caller gets a turn of its own, in the order of asking", async () => {
  let turn = 0;
  let ticking: NodeJS.Immediate;
  const tick = () => {
    turn += 1;
    ticking = setImmediate(tick);
  };
  ticking = setImmediate(tick);
  const order: [string, number][] = [];
  await Promise.all(["a", "b", "c", "d"].map((name) => nextTurn(0).then(() => order.push([name, turn]))));
  clearImmediate(ticking);
  expect(order.map(([name]) => name)).toEqual(["a", "b", "c", "d"]);
  expect(new Set(order.map(([, when]) => when)).size).toBe(4);
});

test("work that has had the fewest turns and work that has had the most take turns", async () => {
  const order: string[] = [];
  const wait = async (name: string, turns: number) => {
    await nextTurn(turns);
    order.push(name);
  };
  await Promise.all([wait("long", 7), wait("longest 1", 9), wait("longest 2", 9), wait("new 1", 0), wait("new 2", 0), wait("begun", 1)]);
  const place = (name: string) => order.indexOf(name);
  // Whichever of the two rules began.
  expect([place("new 1"), place("longest 1")].sort()).toEqual([0, 1]);
  expect([place("new 2"), place("longest 2")].sort()).toEqual([2, 3]);
  expect([place("begun"), place("long")].sort()).toEqual([4, 5]);
});

test("long work that waits alone pauses while short work comes in, and short work does not", async () => {
  /** Whether the turn came later than in the next round of the event loop. */
  const pauses = async (turns: number) => {
    const startedAt = performance.now();
    let isNextRound = false;
    const turn = nextTurn(turns);
    setImmediate(() => {
      isNextRound = true;
    });
    await turn;
    return isNextRound && performance.now() - startedAt >= 1;
  };
  expect(await pauses(9)).toBe(false);
  shortWorkDone();
  expect(await pauses(0)).toBe(false);
  expect(await pauses(9)).toBe(true);
  // What is short ends a pause.
  const long = nextTurn(9);
  expect(await pauses(0)).toBe(false);
  await long;
});

test("several pieces of long work pause between their turns as one does", async () => {
  const end = performance.now() + 200;
  const pauses: number[] = [];
  let endedAt: number | null = null;
  const work = async () => {
    for (let had = 9; performance.now() < end; had++) {
      await nextTurn(had);
      const begunAt = performance.now();
      if (endedAt !== null) pauses.push(begunAt - endedAt);
      shortWorkDone();
      while (performance.now() < begunAt + 2);
      endedAt = performance.now();
    }
  };
  await Promise.all([work(), work(), work()]);
  expect(pauses.length).toBeGreaterThan(3);
  expect(pauses.sort((a, b) => a - b)[pauses.length >> 1]).toBeGreaterThanOrEqual(1);
});
