/** Pages that list every operation or every section name each one. What to add for a new one: docs/extending. */

import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";
import { importedSections, isChanges, lookupNames, operations } from "@netfacts/contracts";

const root = join(import.meta.dirname, "..", "..");
const page = (path: string): string => readFileSync(join(root, path), "utf8");
const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The pages that lack a text, each with that text. */
function lacking(wanted: readonly (readonly [path: string, text: string])[]): string[] {
  return wanted.filter(([path, text]) => !page(path).includes(text)).map(([path, text]) => `${path}: ${text}`);
}

test.each(lookupNames)("the pages that list operations list %s", (name) => {
  const { service, lookup } = operations[name];
  const { path, parameters } = lookup.route;
  const word = `/${path.split("/")[3]}`;
  const short = `\`${word}\``;
  const missing = lacking([
    ["README.md", word],
    ["docs/operations/limits.md", short],
    ...(parameters.some((parameter) => parameter.name === "as_of") ? [["docs/api/conventions.md", short] as const] : []),
    ...(isChanges(name) ? [] : [["docs/api/batch.md", `| \`${name}\``] as const]),
    ["services/gateway-auth-quota/README.md", `\`${path}\``],
    [`services/${service}/README.md`, `\`${name}\``],
    ["libs/client/README.md", `\`${camelCase(name)}\``],
    ["docs/design/architecture.md", `\`${name}\``],
  ]);
  expect(missing).toEqual([]);
});

test.each(importedSections)("the pages that list sections list %s", (name) => {
  const formats = name === "aspas" ? `section \`${name}\`` : `- \`${name}\`:`;
  expect(
    lacking([
      ["docs/concepts.md", `\`${name}\``],
      ["services/ingest/src/sources/README.md", formats],
    ]),
  ).toEqual([]);
});

test.each(globSync("{libs,services}/*/README.md", { cwd: root }).sort())("%s lists the metrics that its package makes", (path) => {
  const sources = globSync("src/**/*.ts", { cwd: join(root, dirname(path)) }).map((name) => page(join(dirname(path), name)));
  const metrics = sources.flatMap((text) => [...text.matchAll(/\bname: "(netfacts_\w+)"/g)].map(([, name = ""]) => name));
  expect(lacking(metrics.map((name) => [path, `\`${name}\``]))).toEqual([]);
});
