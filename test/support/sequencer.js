/** Gives Jest the order of test files. */

import sequencer from "@jest/test-sequencer";
import { inOrder } from "./test-order.ts";

export default class LongestFirstOfEachKind extends sequencer {
  sort(tests) {
    const files = tests.map((test) => {
      // Jest reads the duration to decide whether a few short files are worth a worker.
      test.duration = this.time(test);
      return { test, path: test.path, bytes: test.context.hasteFS.getSize(test.path) ?? 0, ms: test.duration };
    });
    return inOrder(files).map(({ test }) => test);
  }
}
