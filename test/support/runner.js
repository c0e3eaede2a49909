/** Runs the files side by side, those that start no process from one bundle, and after them those that must run alone (`@alone`), one at a time. */

import TestRunner from "jest-runner";
import { bundleTests } from "./test-bundle.ts";
import { runsAlone, startsProcesses } from "./test-groups.ts";

export default class AloneLast extends TestRunner {
  async runTests(tests, watcher, options) {
    const paths = tests.map(({ path }) => path).filter((path) => !startsProcesses(path));
    await bundleTests(this._globalConfig.rootDir, paths);
    const alone = tests.filter(({ path }) => runsAlone(path));
    const together = tests.filter((test) => !alone.includes(test));
    if (together.length > 0) await super.runTests(together, watcher, options);
    if (alone.length === 0 || watcher.isInterrupted()) return;
    // Workers and not this process, which a test could end.
    this._globalConfig = { ...this._globalConfig, maxWorkers: 1 };
    await super.runTests(alone, watcher, options);
  }
}
