/** The README's table of settings is the schema's. */

import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { standaloneConfigSchema } from "../src/config.ts";

test("documents every setting with its default and meaning", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const rows = [...readme.matchAll(/^\| `([A-Z0-9_]+)` *\| *(?:`(.*?)`)? *\| (.*?) *\|$/gm)];
  const settings = Object.entries(standaloneConfigSchema.properties).map(([name, schema]) => {
    const { default: fallback, description } = schema as { default?: unknown; description?: string };
    return [name, String(fallback), description];
  });
  expect(rows.map(([, name, fallback = "", meaning]) => [name, fallback, meaning])).toEqual(settings);
});
