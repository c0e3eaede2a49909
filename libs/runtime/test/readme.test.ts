/** The example of the README runs as it stands there, and its settings are those of the code. */

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { busConfigSchema } from "../src/bus.ts";
import { processConfigSchema } from "../src/index.ts";

test("the example starts, and stops on a signal", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  const source = `
    ${example}
    process.kill(process.pid, "SIGTERM");`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=source", "--input-type=module-typescript", "--eval", source],
    { cwd: import.meta.dirname, env: { TELEMETRY_PORT: "0" } },
  ).catch((error) => error);
  expect(stdout).toBe("stopped\n");
});

test("the settings are those of the schemas, in their order", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const row = /^\| `([A-Z0-9_]+)` *\| *(?:`(.*?)`)? *\| (.*?) *\|$/gm;
  const rows = [...readme.matchAll(row)].map(([, name, fallback, meaning]) => ({ name, fallback: fallback ?? "", meaning }));
  const schemas = { ...processConfigSchema.properties, ...busConfigSchema.properties };
  const settings = Object.entries(schemas).map(([name, schema]) => {
    const { default: fallback, description: meaning } = schema as { default?: unknown; description?: string };
    return { name, fallback: String(fallback), meaning };
  });
  expect(rows).toEqual(settings);
});
