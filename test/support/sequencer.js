/** The order in which Jest takes the files: those that last first, so that none of them begins when all others are done. */

import { relative } from "node:path";
import sequencer from "@jest/test-sequencer";

/** What lasts longer than 20 s; those that compute come first, as a worker that has run many files computes several times slower. */
const slowest = [
  "test/truth/mrt-lines.test.ts",
  "libs/mrt/test/hostile.test.ts",
  "test/faults/operator-uploads.test.ts",
  "test/e2e/dev.test.ts",
  "test/e2e/distributed.test.ts",
  "test/e2e/first-run.test.ts",
  "test/faults/distributed-store.test.ts",
  "test/e2e/two-phase-reload.test.ts",
  "test/load/reload.test.ts",
  "test/faults/store-backup.test.ts",
  "test/faults/start.test.ts",
  "test/faults/batch.test.ts",
  "libs/messaging/test/jetstream/snapshot-store.test.ts",
];

export default class SlowestFirst extends sequencer {
  sort(tests) {
    const place = ({ path, context }) => {
      const index = slowest.indexOf(relative(context.config.rootDir, path));
      return index === -1 ? slowest.length : index;
    };
    return super.sort(tests).sort((a, b) => place(a) - place(b));
  }
}
