/** The settings of the README are those of the code. */

import { readFile } from "node:fs/promises";
import { expect, test } from "@jest/globals";
import { busConfigSchema } from "@netfacts/runtime/bus";
import { podConfigSchema } from "../src/open-pod.ts";

test("the settings are those of the schema, in their order, without those of the bus", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const row = /^\| `([A-Z0-9_]+)` *\| *(?:`(.*?)`)? *\| (.*?) *\|$/gm;
  const rows = [...readme.matchAll(row)].map(([, name, fallback, meaning]) => ({ name, fallback: fallback ?? "", meaning }));
  const own = Object.entries(podConfigSchema.properties).filter(([name]) => !(name in busConfigSchema.properties));
  const settings = own.map(([name, schema]) => {
    const { default: fallback, description: meaning } = schema as { default?: unknown; description?: string };
    return { name, fallback: String(fallback), meaning };
  });
  expect(rows).toEqual(settings);
});
