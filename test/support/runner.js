/** Runs test files from one bundle, several at the same time, and then those that must run alone (`@alone`), one after the other. */

import TestRunner from "jest-runner";
import { quickVariable } from "./runs.ts";
import { StartGate } from "./start-gate.ts";
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
    if (together.length > 0) await this.#runTogether(together, watcher, options);
    if (alone.length === 0 || watcher.isInterrupted()) return;
    this.#limitWorkers(1);
    await super.runTests(alone, watcher, options);
  }

  async #runTogether(tests, watcher, options) {
    this.#limitWorkers(tests.length);
    // Files of `make test-unit` are short. They would be over before the gate has looked.
    if (process.env[quickVariable]) return super.runTests(tests, watcher, options);
    const gate = new StartGate();
    const leave = () => gate.leave();
    const ends = [this.on("test-file-start", () => gate.enter()), this.on("test-file-success", leave), this.on("test-file-failure", leave)];
    try {
      await super.runTests(tests, watcher, options);
    } finally {
      for (const end of ends) end();
    }
  }

  /** Jest starts all workers at the beginning. At least one, because in this process a test could end the run. */
  #limitWorkers(count) {
    this._globalConfig = { ...this._globalConfig, maxWorkers: Math.min(this._globalConfig.maxWorkers, count) };
  }
}
