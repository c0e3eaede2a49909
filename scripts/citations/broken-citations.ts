/** Finds broken citations of pages and files. Each rule yields lines that name the citation and its place. */

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { type Found, type MarkdownPage, readMarkdown } from "./markdown.ts";

interface TextFile {
  /** From the repository's root, with `/`. */
  readonly path: string;
  readonly text: string;
}

interface Repository {
  readonly root: string;
  readonly files: readonly TextFile[];
  readonly pages: ReadonlyMap<string, MarkdownPage>;
}

const extensions = "{md,ts,tsx,js,mjs,cjs,json,sh,yaml,yml,sql,py,java}";
/** Folders of installed, built or generated files. */
const skipped = new Set(["node_modules", "dist", "coverage"]);

/** A citation of a page in comments and texts: its path from the root, with or without a section. A string that is only a path is no citation. */
const citedPage = /(?<!["\w./-])((?:docs|libs|services|scripts|test|bench|samples)\/[\w./-]+\.md)(?:#([\w-]+))?/g;

/** A file or folder in inline code. A path with a placeholder (`<name>`, `*`, `NAME`) does not cite a single file. */
const citedPath = /^((?:docs|libs|services|scripts|test|bench|samples|bin|src)\/[a-z0-9@_./-]*[a-z0-9@_/-])(?:#([\w-]+))?$/;

/** Folder of a package. Its pages name its files relative to it: `src/index.ts`. */
const packageOf = /^(?:libs|services)\/[^/]+/;

/** Pages that record a moment: files that they name may have moved since. Their links must still work. */
const records = /^(CHANGELOG\.md|docs\/decisions\/)/;

/** Guides name files that the reader will make: only their folder must exist. */
const guides = /^docs\/extending\//;

/** Every broken citation, sorted by place. */
export function findBrokenCitations(root: string): string[] {
  const repository = readRepository(root);
  const rules = [brokenLinks, brokenPages, brokenPaths, bareNames];
  return [...new Set(rules.flatMap((rule) => [...rule(repository)]))].sort();
}

function readRepository(root: string): Repository {
  const paths = globSync(`**/*.${extensions}`, {
    cwd: root,
    exclude: (path) => path.split(sep).some((part) => skipped.has(part) || part.startsWith(".")),
  });
  const files = paths.sort().map((path) => ({ path: path.split(sep).join("/"), text: readFileSync(join(root, path), "utf8") }));
  const pages = new Map(files.filter(({ path }) => path.endsWith(".md")).map(({ path, text }) => [path, readMarkdown(text)]));
  return { root, files, pages };
}

function at(path: string, { line, text }: Found, fault: string): string {
  return `${path}:${line}: ${text}: ${fault}`;
}

/** Broken links of pages to files of the repository. Links to other hosts are not checked. */
function* brokenLinks(repository: Repository): Generator<string> {
  for (const [path, { links }] of repository.pages) {
    for (const found of links) {
      if (/^[a-z][a-z0-9+.-]*:/i.test(found.text)) continue;
      const [file = "", anchor] = found.text.split("#");
      const target = file === "" ? path : normalize(join(file.startsWith("/") ? "docs" : dirname(path), decodeURI(file)));
      const fault = faultOf(repository, target, anchor);
      if (fault !== null) yield at(path, found, fault);
    }
  }
}

function* brokenPages(repository: Repository): Generator<string> {
  for (const { path, text } of repository.files) {
    if (records.test(path)) continue;
    for (const [index, line] of text.split("\n").entries()) {
      for (const [whole, target = "", anchor] of line.matchAll(citedPage)) {
        const fault = faultOf(repository, target, anchor);
        if (fault !== null) yield at(path, { line: index + 1, text: whole }, fault);
      }
    }
  }
}

function* brokenPaths(repository: Repository): Generator<string> {
  for (const [path, { code }] of repository.pages) {
    if (records.test(path)) continue;
    for (const found of code) {
      const [, target = "", anchor] = citedPath.exec(found.text) ?? [];
      if (target === "") continue;
      const own = packageOf.exec(path)?.[0];
      // Outside of packages, `src/` means no single folder.
      if (own === undefined && target.startsWith("src/")) continue;
      const inPackage = own === undefined ? target : `${own}/${target}`;
      const named = existsSync(join(repository.root, inPackage)) ? inPackage : target;
      const wanted = guides.test(path) && !existsSync(join(repository.root, named)) ? dirname(named) : named;
      const fault = faultOf(repository, wanted, anchor);
      if (fault !== null) yield at(path, found, fault);
    }
  }
}

/** Design pages that are cited by their name in capitals instead of their path. */
function* bareNames({ files, pages }: Repository): Generator<string> {
  const names = [...pages.keys()].flatMap((path) => /^docs\/design\/([a-z]+)\.md$/.exec(path)?.[1]?.toUpperCase() ?? []);
  if (names.length === 0) return;
  const name = new RegExp(`(?<![\\w./-])(?:${names.join("|")})(?![\\w-])`, "g");
  for (const { path, text } of files) {
    for (const [index, line] of text.split("\n").entries()) {
      for (const [found] of line.matchAll(name)) {
        yield at(path, { line: index + 1, text: found }, `cite docs/design/${found.toLowerCase()}.md and the section, as page.md#section`);
      }
    }
  }
}

/** Why a citation is broken; null: it is not. @param anchor  undefined: the whole page is cited. */
function faultOf({ root, pages }: Repository, target: string, anchor: string | undefined): string | null {
  if (!existsSync(join(root, target))) return "no such file";
  if (anchor === undefined || anchor === "") return null;
  const page = pages.get(target);
  if (page === undefined) return "only Markdown pages have sections";
  return page.anchors.has(anchor) ? null : `the page has no section "${anchor}"`;
}
