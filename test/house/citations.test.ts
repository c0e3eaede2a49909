/** The check of citations: a small tree whose citations all lead somewhere, and each fault planted into it. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { findBrokenCitations } from "../../scripts/citations/broken-citations.ts";

let root: string;

function write(files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** A citation as a comment has it. Put together here, so that the check of this repository does not take it for one of this file. */
const page = (name: string): string => ["docs", "design", name].join("/");

const sound = {
  "docs/design/rules.md": "# Rules\n\n## Limits by leases\n\n## Keys\n\n## Keys\n\n```md\n## Shown only\n```\n",
  "docs/guide.md":
    "[rules](design/rules.md#keys-1), [here](#guide), [web](https://example.net/x.md)\n\n# Guide\n\n`libs/one/src/leaf.ts`\n",
  "docs/extending/leaf.md": "Make `libs/one/src/new-leaf.ts`.\n",
  "docs/decisions/0001-leaf.md": "It was in `libs/one/src/gone.ts`.\n",
  "libs/one/README.md": "`src/leaf.ts`, `libs/<name>/src/leaf.ts`, `docs/*.md`\n",
  "libs/one/src/leaf.ts": `/** A leaf (${page("rules.md")}#limits-by-leases, ${page("rules.md")}). */\n`,
  "node_modules/other/README.md": "[nothing](nothing.md)\n",
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "netfacts-citations-"));
  write(sound);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("accepts a tree whose citations all lead somewhere", () => {
  expect(findBrokenCitations(root)).toEqual([]);
});

test.each<[fault: string, path: string, text: string, line: string]>([
  ["a comment that cites no page", "libs/one/src/leaf.ts", `\n// ${page("none.md")}\n`, `2: ${page("none.md")}: no such file`],
  [
    "a comment that cites no section",
    "libs/one/src/leaf.ts",
    `/* ${page("rules.md")}#leases */`,
    `1: ${page("rules.md")}#leases: the page has no section "leases"`,
  ],
  ["a link to no page", "docs/guide.md", "[x](design/none.md)", "1: design/none.md: no such file"],
  ["a link to no section", "docs/guide.md", "[x](design/rules.md#leases)", '1: design/rules.md#leases: the page has no section "leases"'],
  ["a link to no section of its own page", "docs/guide.md", "# Other\n[x](#guide)", '2: #guide: the page has no section "guide"'],
  [
    "a section that only a code block shows",
    "docs/guide.md",
    "[x](design/rules.md#shown-only)",
    '1: design/rules.md#shown-only: the page has no section "shown-only"',
  ],
  ["a section of what is no page", "docs/guide.md", "[x](../libs/one/src/leaf.ts#a)", "1: ../libs/one/src/leaf.ts#a: only Markdown pages"],
  ["a picture that is not there", "docs/guide.md", "![x](picture.svg)", "1: picture.svg: no such file"],
  ["a reference to no page", "docs/guide.md", "[x]\n\n[x]: none.md", "3: none.md: no such file"],
  ["a path to no file", "docs/guide.md", "see `libs/one/src/gone.ts`", "1: libs/one/src/gone.ts: no such file"],
  ["a path of a package to no file", "libs/one/README.md", "see `src/gone.ts`", "1: src/gone.ts: no such file"],
  ["a guide to a folder that is not there", "docs/extending/leaf.md", "`libs/two/src/other.ts`", "1: libs/two/src/other.ts: no such file"],
  ["a link of a decision to no page", "docs/decisions/0001-leaf.md", "[x](0002-none.md)", "1: 0002-none.md: no such file"],
  ["a page by its bare name", "libs/one/src/leaf.ts", `// as ${"rules".toUpperCase()} says`, "1: RULES: cite"],
])("finds %s", (_fault, path, text, line) => {
  write({ [path]: text });
  const broken = findBrokenCitations(root);
  expect(broken).toHaveLength(1);
  expect(broken[0]).toContain(`${path}:${line}`);
});

test("takes a name in capitals that is no page's as a word", () => {
  write({ "libs/one/src/leaf.ts": "// RULES_MAX, RULE and OTHER\n" });
  expect(findBrokenCitations(root)).toEqual([]);
});
