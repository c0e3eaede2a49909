/** Work in steps: the same result as without a pause, and no step longer than a few items. */

import { expect, test } from "@jest/globals";
import { wholeRecord } from "@netfacts/contracts";
import { madeAllocations, madeRoutes, madeVrps, route } from "../../snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { prefix } from "../../snapshot/test/support/text.ts";
import { AnswerNotes, prefixRecord } from "../src/index.ts";
import { prefixSteps } from "../src/prefix-record.ts";
import { shownSteps } from "../src/shown-answer.ts";
import { finish, jsonSteps, mapSteps, stepItems } from "../src/steps.ts";
import { now } from "./support/checked.ts";

/** How many pauses there were, and the result. */
function counted<T>(steps: Generator<void, T>): { pauses: number; result: T } {
  for (let pauses = 0; ; pauses++) {
    const { done, value } = steps.next();
    if (done === true) return { pauses, result: value };
  }
}

const listOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ index, text: `„${index}“ 🇳🇱`, none: undefined, nil: null }));

test.each([
  {},
  { a: 1, b: undefined, c: null, d: "ü", e: [], f: {}, g: [1, 2], h: { i: [], j: { k: [1] } } },
  { list: listOf(stepItems) },
  { list: listOf(stepItems + 1) },
  { first: undefined, a: { list: listOf(3 * stepItems), count: 1 }, b: [], c: { x: undefined, list: listOf(200) }, d: null, e: 0 },
  listOf(1_000),
])("JSON in steps is JSON", (value) => {
  expect(finish(jsonSteps(value)).toString()).toBe(JSON.stringify(value));
});

test("a long list takes a step for every few items, a short one none", () => {
  expect(counted(mapSteps(listOf(10 * stepItems), ({ index }) => index)).pauses).toBe(10);
  expect(counted(jsonSteps({ list: listOf(10 * stepItems) })).pauses).toBeGreaterThanOrEqual(10);
  expect(counted(jsonSteps({ list: listOf(10) })).pauses).toBe(0);
});

test("the record of a short prefix is built and written in steps, and is the same", () => {
  const slash24s = Array.from({ length: 4_000 }, (_, index) => `20.${index >> 8}.${index & 255}.0/24`);
  const generation = madeGeneration({
    ...world,
    routes: madeRoutes(slash24s.map((text) => route(text, [3333, 9]))),
    vrps: madeVrps(slash24s.map((text, index) => ({ prefix: text, asn: index % 2 === 0 ? 3333 : 9 }))),
    allocations: madeAllocations(slash24s.map((text) => ({ start: text.slice(0, -3), end: text.replace(/0\/24$/, "255"), holder: "h1" }))),
  });
  const question = { prefix: prefix("0.0.0.0/0"), limit: 1_000 };
  const { pauses, result } = counted(prefixSteps(question, new AnswerNotes(generation, now)));
  expect(result).toEqual(prefixRecord(question, new AnswerNotes(generation, now)));
  // Three lists of 1,000.
  expect(pauses).toBeGreaterThan((3 * 1_000) / stepItems - 3);
  expect(result.vrps?.unannounced).toHaveLength(1_000);
  const notes = new AnswerNotes(generation, now);
  const shown = counted(shownSteps(notes, result, wholeRecord, "id"));
  expect(shown.pauses).toBeGreaterThan((3 * 1_000) / stepItems);
  expect(Buffer.from(shown.result.body).toString()).toBe(JSON.stringify({ ...result, meta: notes.meta("id") }));
});

test("VRPs that are all in use are looked at in steps too", () => {
  const slash24s = Array.from({ length: 4_000 }, (_, index) => `20.${index >> 8}.${index & 255}.0/24`);
  const generation = madeGeneration({
    ...world,
    routes: madeRoutes(slash24s.map((text) => route(text, [3333, 9]))),
    vrps: madeVrps(slash24s.map((text) => ({ prefix: text, asn: 3333 }))),
  });
  const { pauses, result } = counted(prefixSteps({ prefix: prefix("0.0.0.0/0"), limit: 1 }, new AnswerNotes(generation, now)));
  expect(result.vrps?.unannounced).toEqual([]);
  expect(pauses).toBeGreaterThan(5);
});
