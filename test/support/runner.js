/**
 * Runs the files from one bundle, in two pools at once: files that start processes, then those that must run alone (`@alone`), one at a
 * time; and beside both, at a low priority, the files that only compute. They take what the others leave of the processors, so that
 * nobody waits for tests that wait (docs/decisions/0058-computing-tests-fill-the-waits.md).
 */

import TestRunner, { EmittingTestRunner } from "jest-runner";
import { bundleTests } from "./test-bundle.ts";
import { runsAlone, startsProcesses } from "./test-groups.ts";

export default class TwoPools extends EmittingTestRunner {
  #pools;

  constructor(globalConfig, context) {
    super(globalConfig, context);
    const pool = (settings) => new TestRunner({ ...globalConfig, ...settings }, context);
    this.#pools = {
      processes: pool({}),
      alone: pool({ maxWorkers: 1 }),
      // The environment of the tests reads it.
      computing: pool({ lowPriority: true }),
    };
  }

  on(event, listener) {
    const ends = Object.values(this.#pools).map((pool) => pool.on(event, listener));
    return () => {
      for (const end of ends) end();
    };
  }

  async runTests(tests, watcher, options) {
    await bundleTests(
      this._globalConfig.rootDir,
      tests.map(({ path }) => path),
    );
    const groups = Map.groupBy(tests, groupOf);
    const run = async (name) => {
      const group = groups.get(name);
      if (group !== undefined && !watcher.isInterrupted()) await this.#pools[name].runTests(group, watcher, options);
    };
    const inTurn = async () => {
      await run("processes");
      await run("alone");
    };
    // In one process nothing runs side by side.
    if (options.serial) {
      await run("computing");
      await inTurn();
    } else {
      await Promise.all([run("computing"), inTurn()]);
    }
  }
}

function groupOf({ path }) {
  if (runsAlone(path)) return "alone";
  return startsProcesses(path) ? "processes" : "computing";
}
