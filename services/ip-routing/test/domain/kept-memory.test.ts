/**
 * The heap that kept texts of `/ip` take: as much as their bound, and nothing once they are forgotten.
 *
 * @large It fills the heap again and again.
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeAll, expect, test } from "@jest/globals";
import { AddressList, firstAddress, formatAddress } from "@netfacts/address";
import { Generation, type LoadedSnapshot } from "@netfacts/snapshot";
import { loadedSamples } from "../../../../test/support/sample-snapshot.ts";
import { IpAnswers } from "../../src/domain/ip-answers.ts";

const mebibyte = 1 << 20;
const now = Date.parse("2026-11-21T09:00:02Z");
/** Of different routes: some 5 MiB of texts. */
const addresses = 4_000;
const frame = 500;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
function liveHeap(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** @param order  of the addresses, by their number. */
function askAll(answers: IpAnswers, generation: Generation, texts: readonly string[], order: (index: number) => number): void {
  const list = new AddressList();
  for (let from = 0; from < texts.length; from += frame) {
    list.clear();
    for (let index = from; index < from + frame; index++) list.add(texts[order(index)] as string);
    answers.answers(generation, list, null, now);
  }
}

let samples: LoadedSnapshot;
let generation: Generation;
let texts: readonly string[];
beforeAll(async () => {
  samples = await loadedSamples();
  generation = Generation.of(samples);
  const prefixes = generation.routes?.prefixes;
  if (prefixes === undefined) throw new Error("the samples have routes");
  const every = Math.floor(prefixes.base.size / addresses);
  texts = Array.from({ length: addresses }, (_, index) => formatAddress(firstAddress(prefixes.prefixAt(index * every))));
  // What is made once for all answers.
  askAll(new IpAnswers({ textsBytesMax: 1 }), generation, texts.slice(0, frame), (index) => index);
});

test("texts that are forgotten are released, although a part of each was in the last frame", async () => {
  const before = liveHeap();
  const answers = new IpAnswers();
  askAll(answers, generation, texts, (index) => index);
  expect(liveHeap() - before).toBeGreaterThan(3 * mebibyte);
  // Each frame has addresses of all the packs that the first round made.
  askAll(answers, generation, texts, (index) => (index % frame) * (addresses / frame) + Math.floor(index / frame));
  const ip = { version: 4, w0: 0xc1000001, w1: 0, w2: 0, w3: 0 } as const;
  answers.answer(generation, { ip, text: formatAddress(ip), requestId: null }, now + 60_000);
  expect(liveHeap() - before).toBeLessThan(mebibyte);
});

test("the bound of texts is one of bytes, whatever was asked", async () => {
  const before = liveHeap();
  const answers = new IpAnswers({ textsBytesMax: 3 * mebibyte });
  let most = 0;
  for (let from = 0; from < addresses; from += frame) {
    askAll(answers, generation, texts.slice(from, from + frame), (index) => index);
    most = Math.max(most, liveHeap() - before);
  }
  expect(most).toBeLessThan(3.5 * mebibyte);
  expect(most).toBeGreaterThan(1.5 * mebibyte);
});

test("of many generations in quick succession, only the two newest keep texts", () => {
  // Of the same tables: what is measured is what the answers keep of each.
  const generations = Array.from({ length: 3 }, () => Generation.of(samples));
  const before = liveHeap();
  const answers = new IpAnswers();
  const perGeneration: number[] = [];
  for (const each of generations) {
    askAll(answers, each, texts, (index) => index);
    perGeneration.push(liveHeap() - before);
  }
  const [one = 0] = perGeneration;
  expect(one).toBeGreaterThan(3 * mebibyte);
  expect(Math.max(...perGeneration)).toBeLessThan(2.5 * one);
  // Questions that name older ones are answered, and leave nothing behind.
  const [oldest, older] = generations as [Generation, Generation];
  for (const each of [oldest, older, generation]) askAll(answers, each, texts, (index) => index);
  expect(liveHeap() - before).toBeLessThan(2.5 * one);
});
