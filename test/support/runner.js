/** Runs test files from one bundle, several at the same time, and then those that must run alone (`@alone`), one after the other. */

import TestRunner from "jest-runner";
import { bundleTests } from "./test-bundle.ts";
import { runsAlone } from "./test-groups.ts";

export default class AloneLast extends TestRunner {
  async runTests(tests, watcher, options) {
    await bundleTests(
      this._globalConfig.rootDir,
      tests.map(({ path }) => path),
    );
    const alone = tests.filter(({ path }) => runsAlone(path));
    const together = tests.filter((test) => !alone.includes(test));
    if (together.length > 0) await super.runTests(together, watcher, options);
    if (alone.length === 0 || watcher.isInterrupted()) return;
    // One worker, because in this process a test could end the run.
    this._globalConfig = { ...this._globalConfig, maxWorkers: 1 };
    await super.runTests(alone, watcher, options);
  }
}
