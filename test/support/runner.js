/** Runs the files from one bundle, side by side, and after them those that must run alone (`@alone`), one at a time. */

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
    // Workers and not this process, which a test could end.
    this._globalConfig = { ...this._globalConfig, maxWorkers: 1 };
    await super.runTests(alone, watcher, options);
  }
}
