/** Lines of refused requests: as many in a second as tell something, and how many more there were. */

import type { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { refusalSampler } from "../../src/edge/observe.ts";
import { clientErrorHandler } from "../../src/edge/problems.ts";

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

test("what is not even a request fills no log either", () => {
  const told: string[] = [];
  const tell = (_fields: object, message: string) => void told.push(message);
  const refuse = clientErrorHandler({
    errorDocsBase: "/",
    fixedHeaders: {},
    log: { info: tell, warn: tell, error: tell },
    clock: { now: () => 0 },
  });
  for (let count = 0; count < 200; count++) refuse(new Error("on purpose"), new PassThrough() as unknown as Socket);
  expect(told.length).toBeGreaterThan(0);
  expect(told.length).toBeLessThanOrEqual(50);
});
