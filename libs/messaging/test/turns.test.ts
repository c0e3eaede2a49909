/** Turns of the event loop. */

import { expect, test } from "@jest/globals";
import { nextTurn } from "../src/turns.ts";

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
