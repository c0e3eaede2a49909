/** Shared memory that nobody refers to is freed when it is asked for. */

import { expect, test } from "@jest/globals";
import { ReleasedMemory } from "../src/released-memory.ts";

const mebibyte = 2 ** 20;

test("what was given up is freed, and what is used is not", async () => {
  const memory = new ReleasedMemory();
  const used = new SharedArrayBuffer(mebibyte);
  const watchAndGiveUp = (): void => {
    memory.watch([used, used, ...Array.from({ length: 10 }, () => new SharedArrayBuffer(mebibyte))]);
  };
  watchAndGiveUp();
  expect(memory.bytes).toBe(11 * mebibyte);
  await memory.free(11 * mebibyte);
  expect(memory.bytes).toBe(11 * mebibyte);
  for (let turn = 0; turn < 100 && memory.bytes > used.byteLength; turn++) {
    await memory.free(used.byteLength);
    await new Promise(setImmediate);
  }
  expect(memory.bytes).toBe(used.byteLength);
});
