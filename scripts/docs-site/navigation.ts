/** The navigation of the documentation site. It finds the pages by globs, so that a new page need not be added to a list. */

import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface NavigationItem {
  readonly text: string;
  readonly link: string;
}

export interface NavigationGroup {
  readonly text: string;
  readonly collapsed: boolean;
  readonly items: readonly NavigationItem[];
}

interface Group {
  readonly text: string;
  /** Globs from the repository's root. Their order is the order of the pages; pages of one glob are sorted by path. */
  readonly pages: readonly string[];
  readonly collapsed?: boolean;
}

/** All pages of the site. */
const all = ["docs/**/*.md", "*.md", "**/README.md"];

/** Groups in the order of the navigation. A page belongs to the first group that contains it. */
const groups: readonly Group[] = [
  { text: "Start", pages: ["README.md", "docs/getting-started.md", "docs/concepts.md", "docs/comparison.md", "samples/README.md"] },
  { text: "Guides", pages: ["docs/guides/*.md"] },
  {
    text: "API",
    pages: [
      "docs/api/conventions.md",
      "docs/api/routes.md",
      "docs/api/headers.md",
      "docs/api/batch.md",
      "docs/api/errors.md",
      "docs/api/*.md",
      "libs/client/README.md",
    ],
  },
  { text: "Records", pages: ["docs/api/records/README.md", "docs/api/records/*.md"] },
  { text: "Operation", pages: ["docs/operations/*.md", "docs/threat-model.md"] },
  { text: "Runbooks", pages: ["docs/operations/runbooks/README.md", "docs/operations/runbooks/*.md"], collapsed: true },
  { text: "Services", pages: ["services/*/README.md", "services/**/README.md"], collapsed: true },
  { text: "Design", pages: ["docs/design/architecture.md", "docs/design/*.md", "docs/truth.md", "docs/performance.md"] },
  { text: "Contributing", pages: ["CONTRIBUTING.md", "docs/extending/*.md", "test/README.md", "CHANGELOG.md"] },
  { text: "Libraries", pages: ["libs/*/README.md", "libs/**/README.md"], collapsed: true },
  { text: "Decisions", pages: ["docs/decisions/README.md", "docs/decisions/*.md"], collapsed: true },
  { text: "More", pages: all, collapsed: true },
];

/** Folders whose pages are from others, or are written by a run. */
const skipped = ["node_modules", "dist", "fixtures", ".netfacts"];

/** The sidebar: each page of the site once, with its title. */
export function navigation(root: string): NavigationGroup[] {
  const listed = new Set<string>();
  return groups.flatMap(({ text, pages, collapsed = false }) => {
    const found = pages.flatMap((glob) => pagesOf(root, glob)).filter((path) => !listed.has(path) && listed.add(path));
    const items = found.map((path) => ({ text: titleOf(root, path), link: linkOf(path) }));
    return items.length === 0 ? [] : [{ text, collapsed, items }];
  });
}

/** Paths of all pages of the site, sorted. */
export function sitePages(root: string): string[] {
  return pagesOf(root, all);
}

function pagesOf(root: string, globs: string | readonly string[]): string[] {
  return globSync(globs, { cwd: root, exclude: (path) => path.split("/").some((part) => skipped.includes(part)) }).sort();
}

/** The text of the first heading. */
function titleOf(root: string, path: string): string {
  return /^# (.+)$/m.exec(readFileSync(join(root, path), "utf8"))?.[1]?.replaceAll("`", "") ?? basename(path, ".md");
}

/**
 * The file that a link of a page leads to, from the repository's root: for a folder its README, else its first page. Null for targets outside
 * the repository, and for folders without pages.
 */
export function linkedFile(root: string, page: string, href: string): string | null {
  if (/^([a-z][a-z0-9+.-]*:|#)/i.test(href)) return null;
  const [path = ""] = decodeURI(href).split(/[#?]/);
  const target = join(path.startsWith("/") ? "" : dirname(page), path);
  if (target.startsWith("..") || !existsSync(join(root, target))) return null;
  if (!statSync(join(root, target)).isDirectory()) return target;
  const pages = pagesOf(root, join(target, "*.md"));
  return pages.find((inside) => basename(inside) === "README.md") ?? pages[0] ?? null;
}

/** Path of a page on the site: `docs/concepts.md` → `/docs/concepts`, `services/ingest/README.md` → `/docs/services/ingest/`. */
export function linkOf(path: string): string {
  const page = path.startsWith("docs/") ? path.slice("docs/".length) : path;
  return `/docs/${basename(page) === "README.md" ? page.slice(0, -"README.md".length) : page.slice(0, -".md".length)}`;
}
