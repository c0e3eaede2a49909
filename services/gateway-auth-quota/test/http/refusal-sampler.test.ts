/** Lines of refused requests: as many in a second as tell something, and how many more there were. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { refusalSampler } from "../../src/edge/observe.ts";

test("beyond the bound refused requests are left out of the log and counted in one line; the next window begins anew", async () => {
  const told: unknown[] = [];
  const isWritten = refusalSampler({ warn: (...line) => void told.push(line) }, { linesMax: 3, windowMs: 50 });
  const write = (times: number) => Array.from({ length: times }, isWritten);
  expect(write(5)).toEqual([true, true, true, false, false]);
  await sleep(150);
  expect(told).toEqual([[{ requests: 2 }, "refused requests were left out of the log"]]);
  expect(write(1)).toEqual([true]);
  await sleep(150);
  expect(told).toHaveLength(1);
});
