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
  await Promise.all(["a", "b", "c", "d"].map((name) => nextTurn().then(() => order.push([name, turn]))));
  clearImmediate(ticking);
  expect(order.map(([name]) => name)).toEqual(["a", "b", "c", "d"]);
  expect(new Set(order.map(([, when]) => when)).size).toBe(4);
});

test("what is half done goes on before more is begun", async () => {
  const order: string[] = [];
  const wait = async (name: string, has?: "begun") => {
    await nextTurn(has);
    order.push(name);
  };
  await Promise.all([wait("new 1"), wait("new 2"), wait("half done 1", "begun"), wait("half done 2", "begun")]);
  expect(order).toEqual(["half done 1", "half done 2", "new 1", "new 2"]);
});

test("work that is half done pauses while short work comes in, and work that is not begun does not", async () => {
  /** Whether a callback of the same round of the event loop came first. */
  const pauses = async (has: "begun" | "nothing begun") => {
    const startedAt = performance.now();
    let isNextRound = false;
    const turn = nextTurn(has);
    setImmediate(() => {
      isNextRound = true;
    });
    await turn;
    return isNextRound && performance.now() - startedAt >= 1;
  };
  expect(await pauses("begun")).toBe(false);
  shortWorkDone();
  expect(await pauses("nothing begun")).toBe(false);
  expect(await pauses("begun")).toBe(true);
});
