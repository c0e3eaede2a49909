/**
 * Runs the files from one bundle, side by side, and after them those that must run alone (`@alone`), one at a time. Half of the files that
 * only compute wait for these, and run beside them at a low priority: files that run alone leave most of the processors unused
 * (docs/decisions/0058-computing-tests-fill-the-waits.md).
 */

import TestRunner, { EmittingTestRunner } from "jest-runner";
import { bundleTests } from "./test-bundle.ts";
import { runsAlone, startsProcesses } from "./test-groups.ts";

export default class AloneLast extends EmittingTestRunner {
  #runners;

  constructor(globalConfig, context) {
    super(globalConfig, context);
    const runner = (settings) => new TestRunner({ ...globalConfig, ...settings }, context);
    this.#runners = {
      first: runner({}),
      alone: runner({ maxWorkers: 1 }),
      // The environment of the tests reads it.
      besideAlone: runner({ lowPriority: true }),
    };
  }

  on(event, listener) {
    const ends = Object.values(this.#runners).map((runner) => runner.on(event, listener));
    return () => {
      for (const end of ends) end();
    };
  }

  async runTests(tests, watcher, options) {
    await bundleTests(
      this._globalConfig.rootDir,
      tests.map(({ path }) => path),
    );
    const groups = grouped(tests);
    const run = async (name) => {
      if (groups[name].length > 0 && !watcher.isInterrupted()) await this.#runners[name].runTests(groups[name], watcher, options);
    };
    await run("first");
    // Where tests run in this process, they run in turn.
    if (options.serial) await run("besideAlone");
    await Promise.all([run("alone"), options.serial ? undefined : run("besideAlone")]);
  }
}

function grouped(tests) {
  const alone = tests.filter(({ path }) => runsAlone(path));
  const computing = tests.filter(({ path }) => !runsAlone(path) && !startsProcesses(path));
  const besideAlone = alone.length === 0 ? [] : computing.filter((_, index) => index % 2 === 1);
  const last = new Set([...alone, ...besideAlone]);
  return { first: tests.filter((test) => !last.has(test)), alone, besideAlone };
}
