/** The README's table of settings is the schema's. */

import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { loadRdnsConfig, rdnsConfigSchema } from "../src/config.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("documents every setting with its default and meaning", () => {
  const row = /^\| `([A-Z_]+)` *\| *(?:`(.*?)`)? *\| (.*?) *\|$/gm;
  const rows = [...readme.matchAll(row)].map(([, name, fallback = "", meaning]) => ({ name, fallback, meaning }));
  const settings = Object.entries(rdnsConfigSchema.properties).map(([name, schema]) => {
    const { default: fallback, description: meaning } = schema as { default?: unknown; description?: string };
    return { name, fallback: String(fallback), meaning };
  });
  expect(rows).toEqual(settings);
});

test("its example of a setting is accepted", () => {
  const [, value] = /`RDNS_OPEN_PREFIXES=(.*?)`/.exec(readme)!;
  expect(loadRdnsConfig({ RDNS_OPEN_PREFIXES: value }).RDNS_OPEN_PREFIXES).toHaveLength(2);
});
