/** Each alert has its page, each page its alert, and rules use only metrics that processes have. */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Script } from "node:vm";
import { expect, test } from "@jest/globals";
import { alerts, ruleFile, runbooks } from "../../observability/alerts/index.ts";
import { blocksOf } from "../../scripts/docs-site/code-blocks.ts";
import { knownMetrics, metricsIn } from "./metric-names.ts";

const root = join(import.meta.dirname, "../..");
const names = alerts()
  .map(({ name }) => name)
  .sort();

test("each alert has its page, and each page its alert", () => {
  const pages = readdirSync(join(root, runbooks)).filter((name) => name !== "README.md");
  expect(pages.sort()).toEqual(names.map((name) => `${name}.md`));
});

test.each(names)("the page of %s says what it means, whom it affects, how to confirm it and what to do", (name) => {
  const text = readFileSync(join(root, runbooks, `${name}.md`), "utf8");
  expect(text.match(/^#.*$/gm)).toEqual([`# ${name}`, "## Impact", "## Confirm", "## What to do"]);
});

test.each(names)("the page of %s has a command that can be pasted, and says where such commands are explained", (name) => {
  const path = `${runbooks}${name}.md`;
  const text = readFileSync(join(root, path), "utf8");
  const blocks = blocksOf(path, text).filter(({ language }) => language === "sh");
  expect(blocks.flatMap((block) => block.text.split("\n")).filter((line) => /^(kubectl|curl|for pod in) /.test(line))).not.toEqual([]);
  expect(text).toContain("](../running-installation.md");
  for (const block of blocks) {
    expect(() => execFileSync("sh", ["-n"], { input: block.text })).not.toThrow();
    // Images have no other program.
    for (const [, program] of block.text.matchAll(/ exec \S+ -- (\S+)/g)) expect(program).toBe("/usr/local/bin/node");
    for (const [, script = ""] of block.text.matchAll(/node -e '([^']+)'/g)) expect(() => new Script(script)).not.toThrow();
  }
});

test("the index lists each alert with its severity", () => {
  const index = readFileSync(join(root, runbooks, "README.md"), "utf8");
  const rows = [...index.matchAll(/^\| \[(\w+)\]\((\w+)\.md\) +\| (\w+) +\|/gm)].map(([, name, page, severity]) => ({
    name,
    page,
    severity,
  }));
  expect(rows).toEqual(alerts().map(({ name, severity }) => ({ name, page: name, severity })));
});

test("rules and pages name only metrics that exist", async () => {
  const known = await knownMetrics();
  const recorded = ruleFile().groups.flatMap((group) => (group as { rules: { record?: string }[] }).rules.map(({ record }) => record));
  const used = metricsIn(JSON.stringify(ruleFile()));
  for (const name of names) for (const metric of metricsIn(readFileSync(join(root, runbooks, `${name}.md`), "utf8"))) used.add(metric);
  expect([...used].filter((name) => !known.has(name) && !recorded.includes(name))).toEqual([]);
  expect(used.size).toBeGreaterThan(30);
});
