/** The example of the README runs as it stands there, and its settings are those of the code. */

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { processConfigSchema } from "../src/index.ts";

test("the example starts, and stops on a signal", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  const source = `
    import { runMain, startTelemetry } from "@netfacts/runtime/telemetry";
    ${example}
    process.kill(process.pid, "SIGTERM");`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=source", "--input-type=module-typescript", "--eval", source],
    { cwd: import.meta.dirname, env: { TELEMETRY_PORT: "0" } },
  ).catch((error) => error);
  expect(stdout).toBe("stopped\n");
});

test("the settings of every service are those of the schema, in its order", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const rows = readme.split("\n").flatMap((line) => {
    const [, name, value, meaning] = /^\| `([A-Z_]+)`\s*\| `(.*?)`\s*\| (.*?)\s*\|$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, value, meaning }];
  });
  const settings = Object.entries<{ default?: unknown; description?: string }>(processConfigSchema.properties);
  expect(rows).toEqual(settings.map(([name, one]) => ({ name, value: String(one.default), meaning: one.description })));
});
