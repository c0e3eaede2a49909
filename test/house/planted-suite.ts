/** Suites of tests in a folder of their own, run by the real `scripts/test.ts` with the settings of this repository. */

import { type ChildProcess, execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compileCache } from "../support/compile-cache.ts";

const repository = join(import.meta.dirname, "..", "..");

export interface PlantedRun {
  /** The last line of standard output. */
  readonly line: string | undefined;
  readonly status: unknown;
  /** All that the script itself prints. */
  readonly out: string;
  /** What Jest prints for people. */
  readonly report: string;
}

export class PlantedSuite {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "netfacts-planted-")));

  constructor() {
    this.write(
      "test/support/global-setup.ts",
      `export default () => { process.env.NETFACTS_TEST_RUN = ${JSON.stringify(join(this.root, "run"))}; };`,
    );
    this.write("test/support/global-teardown.ts", "export default () => {};");
    this.write("package.json", '{"type":"module"}');
    this.write(
      "jest.config.mjs",
      `import config from ${JSON.stringify(join(repository, "jest.config.mjs"))};
      const here = (path) => path.replace("<rootDir>", ${JSON.stringify(repository)});
      const { testSequencer, testEnvironment, runner, runtime } = config;
      export default {
        ...config,
        testSequencer: here(testSequencer),
        testEnvironment: here(testEnvironment),
        runner: here(runner),
        runtime: here(runtime),
      };`,
    );
  }

  /** @param path  from the folder; files of tests are `test/NAME.test.ts`. */
  write(path: string, text: string): void {
    const full = join(this.root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }

  /**
   * @param started  is given the process of the run.
   * @param more  variables of its environment.
   */
  run(
    options: readonly string[] = [],
    started: (run: ChildProcess) => void = () => undefined,
    more: Readonly<Record<string, string>> = {},
  ): Promise<PlantedRun> {
    const env = { PATH: process.env.PATH, HOME: this.root, TEST_ROOT: this.root, ...compileCache, ...more };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [join(repository, "scripts/test.ts"), ...options], { env }, (error, stdout, report) => {
        resolve({ line: stdout.trimEnd().split("\n").at(-1), status: error?.code ?? 0, out: stdout, report });
      });
      started(child);
    });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
