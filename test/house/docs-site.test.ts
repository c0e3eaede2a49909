/** The documentation site's own parts: every page is in the navigation, links lead to what is there, and nothing is asked of another host. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { readMarkdown } from "../../scripts/citations/markdown.ts";
import { foreignRequests } from "../../scripts/docs-site/foreign-requests.ts";
import { linkedFile, linkOf, navigation, sitePages } from "../../scripts/docs-site/navigation.ts";
import { docsSite } from "../../scripts/docs-site/site.ts";

const root = join(import.meta.dirname, "..", "..");
const folder = mkdtempSync(join(tmpdir(), "netfacts-site-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("every page of the site is in the navigation once", () => {
  const links = navigation(root).flatMap(({ items }) => items.map(({ link }) => link));
  expect([...links].sort()).toEqual(sitePages(root).map(linkOf).sort());
  expect(links).toEqual(
    expect.arrayContaining(["/docs/", "/docs/concepts", "/docs/api/records/ip", "/docs/services/ingest/", "/docs/CHANGELOG"]),
  );
});

test("the built site asks no other host for anything", () => {
  expect(foreignRequests(join(root, docsSite))).toEqual([]);
});

test("a page links to no page that the site lacks", () => {
  const pages = sitePages(root);
  const lacking = pages.flatMap((page) =>
    readMarkdown(readFileSync(join(root, page), "utf8")).links.flatMap(({ text }) => {
      const target = linkedFile(root, page, text);
      return target === null || !target.endsWith(".md") || pages.includes(target) ? [] : [`${page}: ${text}`];
    }),
  );
  expect(lacking).toEqual([]);
});

test("a link leads to a page, to a file, to the page of a folder, or nowhere", () => {
  expect(linkedFile(root, "docs/concepts.md", "api/batch.md#meta")).toBe("docs/api/batch.md");
  expect(linkedFile(root, "README.md", "docs/api/openapi.json")).toBe("docs/api/openapi.json");
  expect(linkedFile(root, "docs/concepts.md", "api/records")).toBe("docs/api/records/README.md");
  expect(linkedFile(root, "docs/concepts.md", "no/such.md")).toBeNull();
  expect(linkedFile(root, "README.md", "../elsewhere.md")).toBeNull();
  expect(linkedFile(root, "README.md", "https://www.rfc-editor.org/")).toBeNull();
});

test("what would be asked of another host is found, and what a reader follows is not", () => {
  mkdirSync(join(folder, "assets"));
  writeFileSync(
    join(folder, "index.html"),
    '<a href="https://example.net/">x</a><script src="/assets/a.js"></script><link href="//fonts.example/css">',
  );
  writeFileSync(join(folder, "assets", "a.css"), "@font-face{src:url(https://fonts.example/a.woff2)} b{background:url(/a.png)}");
  writeFileSync(join(folder, "assets", "a.js"), 'fetch("https://stats.example/");fetch("/local");');
  expect(foreignRequests(folder)).toEqual([
    expect.stringMatching(/^index\.html: <link/),
    expect.stringMatching(/^assets\/a\.css: url\(https:/),
    expect.stringMatching(/^assets\/a\.js: fetch\("https:/),
  ]);
});
