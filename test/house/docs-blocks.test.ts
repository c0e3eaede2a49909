/** The blocks of the documentation that are data: JSON parses, and lists of sources are read as the importer reads them. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { blocksOf, codeBlocks } from "../../scripts/docs-site/code-blocks.ts";
import { readSources } from "../../services/ingest/src/sources/read-sources.ts";

const blocks = codeBlocks(join(import.meta.dirname, "..", ".."));
const folder = mkdtempSync(join(tmpdir(), "netfacts-blocks-"));
afterAll(() => rmSync(folder, { recursive: true }));

const inLanguage = (language: string) =>
  blocks.filter((block) => block.language === language).map((block) => [`${block.page}:${block.line}`, block] as const);

test.each(inLanguage("json"))("%s is JSON", (_place, { text }) => {
  expect(() => JSON.parse(text)).not.toThrow();
});

/** What is not a list of sources says what it is, and another test reads it. */
const others = ["of a pod", "of a chart", "of Prometheus"];
const sourceLists = inLanguage("yaml").filter(([, { info }]) => !others.includes(info));

test.each(sourceLists)("%s is a list of sources", async (place, { text }) => {
  const path = join(folder, `${place.replaceAll(/\W/g, "-")}.yaml`);
  writeFileSync(path, text);
  expect((await readSources(path, { files: "later" })).sources.length).toBeGreaterThan(0);
});

test("a block has its language, what follows it, its line, and its text without the indentation of a list", () => {
  const text = [
    "# T",
    "",
    "1. x",
    "",
    "   ```sh not-run: y",
    "   a",
    "     b",
    "   ```",
    "",
    "````md",
    "```json",
    "{}",
    "```",
    "````",
  ].join("\n");
  expect(blocksOf("p.md", text)).toEqual([
    { page: "p.md", line: 5, language: "sh", info: "not-run: y", text: "a\n  b" },
    { page: "p.md", line: 10, language: "md", info: "", text: "```json\n{}\n```" },
  ]);
});
