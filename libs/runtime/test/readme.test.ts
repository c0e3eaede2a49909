/** The example of the README runs as it stands there. */

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

test("the example starts, and stops on a signal", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  const source = `
    import Type from "typebox";
    import { createLogger, createMetrics, installStop, loadConfig, runMain, startOperationsServer } from "@netfacts/runtime";
    ${example}
    process.kill(process.pid, "SIGTERM");`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=source", "--input-type=module-typescript", "--eval", source],
    { cwd: import.meta.dirname, env: { PORT: "0" } },
  ).catch((error) => error);
  expect(stdout).toBe("stopped\n");
});
