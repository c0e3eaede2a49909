/** Writes the documentation site: pages, search index, the script that searches, and the files that pages link to. */

import { readFileSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import { build } from "esbuild";
import MiniSearch, { type Options } from "minisearch";
import { pageHtml } from "./markdown-html.ts";
import { linkedFile, linkOf, navigation, sitePages } from "./navigation.ts";
import { type SitePage, siteBase, sitePageHtml } from "./site-page.ts";

const root = resolve(import.meta.dirname, "../..");

/** Types of linked files that are copied to the site, because a reader can use them without the repository. */
const broughtAlong = new Set([".json", ".yaml", ".webp", ".png", ".svg"]);

/** One section of a page. */
interface SearchEntry {
  /** `/docs/concepts#announced`. */
  readonly id: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

const searchOptions = { fields: ["title", "page", "text"], storeFields: ["page", "title"] } satisfies Options<SearchEntry>;

export interface WrittenSite {
  /** Linked files that are not pages, such as openapi.json, from the repository's root. They are copied to the site. */
  readonly files: readonly string[];
  /** Paths of the modules in its script, from the repository's root. */
  readonly inputs: readonly string[];
}

/**
 * Writes all files of the site into a folder.
 *
 * @param searchScript  source of the script in the pages, from the repository's root.
 */
export async function writeSite(folder: string, searchScript: string): Promise<WrittenSite> {
  const groups = navigation(root);
  const titles = new Map(groups.flatMap(({ items }) => items.map(({ link, text }) => [link, text])));
  const paths = sitePages(root);
  const files = new Set<string>();
  const entries: SearchEntry[] = [];
  for (const path of paths) {
    const link = linkOf(path);
    const title = titles.get(link) ?? path;
    const page: SitePage = {
      link,
      title,
      ...pageHtml(readFileSync(join(root, path), "utf8"), (href) => siteLink(path, href, paths, files)),
    };
    entries.push(...entriesOf(page));
    await write(folder, fileOf(link), sitePageHtml(page, groups));
  }
  for (const path of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(root, path), join(folder, path));
  }
  const index = new MiniSearch<SearchEntry>(searchOptions);
  index.addAll(entries);
  await write(folder, "search-index.json", JSON.stringify({ options: searchOptions, index }));
  await cp(join(import.meta.dirname, "site.css"), join(folder, "site.css"));
  const { metafile } = await build({
    absWorkingDir: root,
    metafile: true,
    entryPoints: { search: join(root, searchScript) },
    outdir: folder,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  });
  return { files: [...files].sort(), inputs: Object.keys(metafile.inputs) };
}

/** Target of a page's link on the site; null: the site does not have it, for example a source file. */
function siteLink(page: string, href: string, pages: readonly string[], files: Set<string>): string | null {
  if (/^([a-z][a-z0-9+.-]*:|#)/i.test(href)) return href;
  const target = linkedFile(root, page, href);
  if (target === null) return null;
  const [, anchor = ""] = /(#.*)$/.exec(href) ?? [];
  if (pages.includes(target)) return `${linkOf(target)}${anchor}`;
  if (!broughtAlong.has(extname(target))) return null;
  files.add(target);
  return `${siteBase}${target}`;
}

function* entriesOf({ link, title, sections }: SitePage): Generator<SearchEntry> {
  for (const section of sections) {
    const isPage = section.level === 1;
    if (isPage && section.text === "") continue;
    yield {
      id: `${link}#${section.anchor === "" ? "content" : section.anchor}`,
      page: title,
      title: isPage ? title : section.title,
      text: section.text,
    };
  }
}

/** `/docs/concepts` → `concepts.html`, `/docs/services/ingest/` → `services/ingest/index.html`. */
function fileOf(link: string): string {
  const path = link.slice(siteBase.length);
  return path === "" || path.endsWith("/") ? `${path}index.html` : `${path}.html`;
}

async function write(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}
