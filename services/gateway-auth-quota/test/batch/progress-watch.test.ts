/** The progress of a batch's client, by itself. */

import { expect, test } from "@jest/globals";
import { until } from "../../../../test/support/http.ts";
import { ProgressWatch } from "../../src/lookups/batch/progress-watch.ts";

test.each([0, 1, 4])("time in which the process stood still is none of the client's (after %d samples)", async (samplesBefore) => {
  let samples = 0;
  const stalls: number[] = [];
  const standStill = () => {
    for (const since = performance.now(); performance.now() - since < 500; );
    // Timers that are due come first, a turn later, and then what the client sent meanwhile.
    setImmediate(() => setImmediate(() => watch.item()));
  };
  const watch = new ProgressWatch({
    periodMs: 250,
    stepsMin: 1,
    isClientsTurn() {
      samples += 1;
      if (samples === samplesBefore) setTimeout(standStill);
      return true;
    },
    takenBytes: () => 0,
    onStall: () => stalls.push(samples),
  });
  if (samplesBefore === 0) standStill();
  await until(() => stalls.length > 0);
  watch.stop();
  // The client sent something in the first period of five samples, and nothing in the second one.
  expect(stalls).toEqual([10]);
});
