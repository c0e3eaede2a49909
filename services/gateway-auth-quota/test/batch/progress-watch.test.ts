/** The progress of a batch's client, by itself. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { ProgressWatch } from "../../src/lookups/batch/progress-watch.ts";

test("time in which the process stood still is none of the client's", async () => {
  let stalls = 0;
  const watch = new ProgressWatch({
    periodMs: 100,
    stepsMin: 1,
    isClientsTurn: () => true,
    takenBytes: () => 0,
    onStall: () => {
      stalls += 1;
    },
  });
  for (const since = performance.now(); performance.now() - since < 300; );
  // Timers that are due come first, and then what the client sent meanwhile.
  await nextTurn();
  await nextTurn();
  expect(stalls).toBe(0);
  watch.stop();
});
