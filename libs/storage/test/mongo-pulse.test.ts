/** A server that is slow is waited for, one that is silent is not. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { Pulse } from "../src/mongo/mongo-pulse.ts";

/** Longer than an operation takes to be given up. */
const longMs = 1_000;

test("an operation is waited for while the server answers beside it", async () => {
  let asked = 0;
  const pulse = new Pulse(async () => void asked++);
  let isLost = false;
  const end = pulse.watch(() => {
    isLost = true;
  });
  await sleep(longMs);
  end();
  expect([isLost, pulse.isSilent]).toEqual([false, false]);
  expect(asked).toBeGreaterThan(0);
});

test.each([
  ["does not answer", () => new Promise(() => {})],
  ["cannot be reached", () => Promise.reject(new Error("refused"))],
])("a server that %s is silent, for all who wait, until anything is heard of it", async (_, ask) => {
  const pulse = new Pulse(ask);
  const lost = await Promise.all([1, 2].map(() => new Promise<string>((resolve) => pulse.watch(() => resolve("lost")))));
  expect(lost).toEqual(["lost", "lost"]);
  expect(pulse.isSilent).toBe(true);
  pulse.heard();
  expect(pulse.isSilent).toBe(false);
  pulse.close();
});

test("a silent server is asked until it answers", async () => {
  let answers = false;
  const pulse = new Pulse(async () => {
    if (!answers) await new Promise(() => {});
  });
  await new Promise<void>((resolve) => pulse.watch(resolve));
  expect(pulse.isSilent).toBe(true);
  answers = true;
  while (pulse.isSilent) await sleep(10);
  pulse.close();
});

test("who has been answered is told nothing", async () => {
  const pulse = new Pulse(() => new Promise(() => {}));
  let isLost = false;
  pulse.watch(() => {
    isLost = true;
  })();
  await sleep(longMs);
  expect([isLost, pulse.isSilent]).toEqual([false, false]);
  pulse.close();
});
