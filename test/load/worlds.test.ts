/** The oracle of the tests under load must see every kind of mixed answer, so each is planted here once. */

import { expect, test } from "@jest/globals";
import { madeGeneration } from "../../libs/snapshot/test/support/made-snapshot.ts";
import { madeWorld, WorldOracle, type WorldQuestion, worldQuestions } from "./worlds.ts";

const oracle = new WorldOracle([0, 1]);
const answerOf = (question: WorldQuestion, made: ReturnType<typeof madeWorld>) => {
  const { text, sections } = question.record(madeGeneration(made));
  const data = Object.fromEntries(sections.map((name) => [name, { version: made.entry?.version }]));
  return { question, body: JSON.stringify({ ...JSON.parse(text), meta: { data } }), snapshotId: null, pinned: null };
};

test("finds nothing wrong with answers of one world", () => {
  for (const question of worldQuestions) for (const world of [0, 1]) expect(oracle.fault(answerOf(question, madeWorld(world)))).toBeNull();
});

test.each(["routes", "vrps", "allocations", "names"] as const)("sees %s of another world in every record that tells of them", (section) => {
  const mixed = { ...madeWorld(0), [section]: madeWorld(1)[section] };
  const used = section === "names" ? "as_names" : section;
  const unseen = worldQuestions.filter((question) => {
    if (!question.record(madeGeneration(mixed)).sections.includes(used)) return false;
    return oracle.fault(answerOf(question, mixed)) === null;
  });
  expect(unseen.map(({ path }) => path)).toEqual([]);
});
