/** Samples of streams: bounded, the same for the same seed, and of what they keep nothing is missing. */

import { expect, test } from "@jest/globals";
import { KeyedSample } from "../../src/verify/keyed-sample.ts";
import { Reservoir, randomOf } from "../../src/verify/reservoir.ts";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

function sampled(count: number, max: number, seed: string): number[] {
  const kept = new Reservoir<number>(max, randomOf(seed));
  for (const number of numbers(count)) kept.add(number);
  return kept.items();
}

test("a reservoir keeps everything of a short stream, and of a long one so many, the first and the last among them", () => {
  expect(sampled(5, 10, "a")).toEqual(numbers(5));
  const items = sampled(10_000, 10, "a");
  expect(new Set(items).size).toBe(items.length);
  expect(items.length).toBeLessThanOrEqual(11);
  expect([items.includes(0), items.includes(9_999)]).toEqual([true, true]);
  expect(sampled(10_000, 10, "a")).toEqual(items);
  expect(sampled(10_000, 10, "b")).not.toEqual(items);
});

test("a reservoir keeps every part of a stream about as often", () => {
  const tenths = new Array<number>(10).fill(0);
  for (let round = 0; round < 400; round++)
    for (const item of sampled(1_000, 20, `round ${round}`)) tenths[Math.floor(item / 100)] = (tenths[Math.floor(item / 100)] ?? 0) + 1;
  // 800 each, and the first and the last item 400 more.
  for (const count of tenths.slice(1, -1)) expect({ count, isFair: count > 600 && count < 1_000 }).toEqual({ count, isFair: true });
});

test("of a key that is kept, everything that was said is known, in order, and the greatest number is kept", () => {
  const random = randomOf("stream");
  const stream = numbers(20_000).map((at) => [Math.floor(random() * 3_000), at] as const);
  const kept = new KeyedSample<number>(50, randomOf("keys"));
  for (const [key, value] of stream) kept.add(key, value);
  const entries = kept.entries();
  const all = Map.groupBy(stream, ([key]) => key);
  expect(entries.length).toBeGreaterThanOrEqual(50);
  expect(entries.length).toBeLessThanOrEqual(51);
  for (const [key, values] of entries) expect(values).toEqual(all.get(Number(key))?.map(([, value]) => value));
  expect(entries.map(([key]) => key)).toContain(Math.max(...stream.map(([key]) => key)));
});
