/** Readings of a pointer whose answers come late, fail, or come after the end. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { type SnapshotPointer, watchReadings } from "../../src/index.ts";

const first: SnapshotPointer = { published: "20261120T000000Z-00000001", active: "20261120T000000Z-00000001" };
const second: SnapshotPointer = { published: "20261121T000000Z-00000002", active: "20261121T000000Z-00000002" };

/** Readings that are answered when the test says so. */
function watchAnswers() {
  const asked: PromiseWithResolvers<SnapshotPointer | null>[] = [];
  const told: SnapshotPointer[] = [];
  const watch = watchReadings(
    () => {
      const answer = Promise.withResolvers<SnapshotPointer | null>();
      asked.push(answer);
      return answer.promise;
    },
    (pointer) => told.push(pointer),
  );
  return { asked, told, watch };
}

test("one reading is under way, and who asks meanwhile shares the next", async () => {
  const { asked, told, watch } = watchAnswers();
  const early = watch.look();
  await nextTurn();
  const late = [watch.look(), watch.look()];
  await nextTurn();
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(first);
  await early;
  await nextTurn();
  expect(asked).toHaveLength(2);
  asked[1]?.resolve(second);
  await Promise.all(late);
  expect(told).toEqual([first, second]);
});

test("a reading that fails or finds none says nothing, and the next one does; the same pointer is told once", async () => {
  const { asked, told, watch } = watchAnswers();
  for (const answer of [new Error("no answer"), first, null, first, second, first]) {
    const looked = watch.look();
    await nextTurn();
    if (answer instanceof Error) asked.at(-1)?.reject(answer);
    else asked.at(-1)?.resolve(answer);
    await looked;
  }
  expect(told).toEqual([first, second, first]);
});

test("after the end nothing is told or read", async () => {
  const { asked, told, watch } = watchAnswers();
  const looked = watch.look();
  await nextTurn();
  const next = watch.look();
  watch.stop();
  asked[0]?.resolve(first);
  await Promise.all([looked, next, watch.look()]);
  expect(asked).toHaveLength(1);
  expect(told).toEqual([]);
});
