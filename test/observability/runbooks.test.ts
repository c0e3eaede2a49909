/** Each alert has its page, each page its alert, and rules use only metrics that processes have. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { alerts, ruleFile, runbooks } from "../../observability/alerts/index.ts";
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
