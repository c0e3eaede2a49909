/** The progress of a batch's client, by itself. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { until } from "../../../../test/support/http.ts";
import { ProgressWatch } from "../../src/lookups/batch/progress-watch.ts";

test.each([0, 1, 4])("time in which the process stood still is none of the client's (after %d samples)", async (samplesBefore) => {
  let samples = 0;
  let stalls = 0;
  const watch = new ProgressWatch({
    periodMs: 250,
    stepsMin: 1,
    isClientsTurn() {
      samples += 1;
      return true;
    },
    takenBytes: () => 0,
    onStall() {
      stalls += 1;
    },
  });
  await until(() => samples === samplesBefore);
  for (const since = performance.now(); performance.now() - since < 500; );
  // Timers that are due come first, and then what the client sent meanwhile.
  await nextTurn();
  await nextTurn();
  expect(stalls).toBe(0);
  watch.item();
  await until(() => samples === 5);
  expect(stalls).toBe(0);
  // It did send something in the first period, and nothing in the next.
  await until(() => stalls === 1);
  expect(samples).toBe(10);
  watch.stop();
});
