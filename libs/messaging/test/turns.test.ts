/** Turns of the event loop. */

import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { nextTurn, shortWorkDone, turnMs } from "../src/turns.ts";

// Time passes when a test says so, however long the machine stands still.
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "clearImmediate", "queueMicrotask", "hrtime"] });
});
afterEach(() => {
  jest.useRealTimers();
});

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

/** Lets the event loop turn, while no time passes. */
async function rounds(): Promise<void> {
  for (let round = 0; round < 5; round++) await new Promise(setImmediate);
}

test("long work that waits alone pauses while short work comes in, and short work does not", async () => {
  /** Whether the turn does not come before time passes. */
  const pauses = async (turns: number) => {
    let hasCome = false;
    const turn = nextTurn(turns).then(() => {
      hasCome = true;
    });
    await rounds();
    const cameAtOnce = hasCome;
    jest.advanceTimersByTime(turnMs);
    await turn;
    return !cameAtOnce;
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
  let goesOn = true;
  let turns = 0;
  const work = async () => {
    for (let had = 9; goesOn && turns < 100; had++) {
      await nextTurn(had);
      turns += 1;
      shortWorkDone();
      // The turn takes its time: a pause that had begun before it would be over with it.
      jest.advanceTimersByTime(turnMs);
    }
  };
  shortWorkDone();
  const all = Promise.all([work(), work(), work()]);
  const seen: number[] = [];
  for (let pause = 0; pause < 6; pause++) {
    await rounds();
    seen.push(turns);
    jest.advanceTimersByTime(turnMs);
  }
  expect(seen).toEqual([0, 1, 2, 3, 4, 5]);
  goesOn = false;
  for (let left = 0; left < 3; left++) {
    await rounds();
    jest.advanceTimersByTime(turnMs);
  }
  await all;
});
