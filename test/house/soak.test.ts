/** What the soak takes for a leak, and for harm to polite callers. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { afterEach, expect, test } from "@jest/globals";
import { nodeOptions, openLiveHeap } from "../../scripts/soak/live-heap.ts";
import { isUnfair } from "../../scripts/soak/load.ts";
import { growthOf } from "../../scripts/soak/watch.ts";

const mebibyte = 1 << 20;
const isLeak = (values: readonly number[], name: "live heap" | "live buffers" | "resident memory" | "open files" | "disk") =>
  growthOf(values.map((value) => ({ [name]: value }))).map((growth) => growth.isLeak);

test("a heap whose floor rises is a leak; one that fills and stays, or is collected late, is not", () => {
  const rising = Array.from({ length: 60 }, (_, index) => (100 + 2 * index) * mebibyte);
  const filled = Array.from({ length: 60 }, (_, index) => Math.min(200, 100 + 10 * index) * mebibyte);
  const collectedLate = Array.from({ length: 60 }, (_, index) => (100 + (index % 7) * 20) * mebibyte);
  expect(isLeak(rising, "live heap")).toEqual([true]);
  expect(isLeak(filled, "live heap")).toEqual([false]);
  expect(isLeak(collectedLate, "live heap")).toEqual([false]);
});

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** At every message: much garbage, a cache that fills and begins anew, and what is never released. */
const planted = (leakMiB: number) => `
  const mebibyte = () => new Array(1 << 17).fill(0);
  const [kept, buffers] = [[], []];
  let cache = [], garbage = [];
  process.on("message", (round) => {
    if (round % 4 === 0) [cache, garbage] = [[], []];
    for (let count = 0; count < 10; count++) cache.push(mebibyte());
    for (let count = 0; count < 5 * (round % 7); count++) garbage.push(mebibyte());
    garbage = [];
    for (let count = 0; count < ${leakMiB}; count++) kept.push(mebibyte());
    for (let count = 0; count < 2 * ${leakMiB}; count++) buffers.push(Buffer.alloc(1 << 20));
    garbage = Array.from({ length: round % 7 }, () => Buffer.alloc(1 << 20));
    process.send(process.memoryUsage().heapUsed);
  });
  process.send(0);`;

test.each([
  [0, false],
  [3, true],
])("a process that keeps %d MiB a round leaks: %p, whatever its cache and its garbage do", async (leakMiB, leaks) => {
  const child = spawn(process.execPath, ["-e", planted(leakMiB)], {
    env: { NODE_OPTIONS: nodeOptions },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  children.push(child);
  let printed = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await once(child, "message");
  while (!printed.includes("\n")) await once(child.stderr as Readable, "data");
  const heap = await openLiveHeap(printed);
  const live: Awaited<ReturnType<typeof heap.read>>[] = [];
  const used: number[] = [];
  for (let round = 0; round < 24; round++) {
    const told = once(child, "message");
    child.send(round);
    used.push(((await told) as [number])[0]);
    // Three quarters of what the cache lives.
    if (round % 3 === 2) live.push(await heap.read());
  }
  heap.close();
  expect(Math.max(...used)).toBeGreaterThan(1.5 * Math.min(...live.map((sample) => sample["live heap"])));
  expect(growthOf(live).map(({ name, isLeak: found }) => [name, found])).toEqual([
    ["live heap", leaks],
    ["live buffers", leaks],
  ]);
  await expect(heap.read()).rejects.toThrow("went away");
});

test("resident memory whose floor rises is a leak; garbage above it is none, however much there is at a time", () => {
  // What a gateway under abuse had, in MiB.
  const gateway = [395, 497, 437, 521, 518, 410, 401, 512, 409, 445, 373, 520, 410, 518, 521];
  const samples = gateway.map((value) => value * mebibyte);
  expect(isLeak(samples, "resident memory")).toEqual([false]);
  expect(
    isLeak(
      samples.map((value, index) => value + 40 * index * mebibyte),
      "resident memory",
    ),
  ).toEqual([true]);
});

test("files that stay open are one, a burst of them is not, and a figure that is missing proves nothing", () => {
  const base = Array.from({ length: 30 }, () => 50);
  expect(
    isLeak(
      base.map((value, index) => value + 3 * index),
      "open files",
    ),
  ).toEqual([true]);
  expect(
    isLeak(
      base.map((value, index) => value + (index === 25 ? 500 : 0)),
      "open files",
    ),
  ).toEqual([false]);
  expect(
    isLeak(
      base.map(() => Number.NaN),
      "open files",
    ),
  ).toEqual([true]);
});

test("a log that is rotated at its bound is no leak; one that is not is", () => {
  const rotated = Array.from({ length: 60 }, (_, index) => (40 + (index % 7)) * mebibyte);
  const growing = Array.from({ length: 60 }, (_, index) => (40 + index) * mebibyte);
  expect([isLeak(rotated, "disk"), isLeak(growing, "disk")]).toEqual([[false], [true]]);
});

test("polite callers are harmed where abuse has more of them refused than a busy machine does", () => {
  const of = (refused: number, steps = 10_000) => ({ steps, refused });
  expect([isUnfair(of(0), of(10)), isUnfair(of(0), of(11))]).toEqual([false, true]);
  expect([isUnfair(of(20, 1_000), of(610)), isUnfair(of(20, 1_000), of(611))]).toEqual([false, true]);
  expect(isUnfair(of(0, 0), of(11))).toBe(true);
});

test("too few samples tell nothing", () => {
  expect(() => isLeak([1, 2], "live heap")).toThrow("2 samples are too few");
});
