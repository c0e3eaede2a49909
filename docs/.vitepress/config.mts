/** The documentation site: the repository's Markdown pages where they are, so that they read alike here and on a forge. */

import { cpSync, globSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { defineConfig } from "vitepress";
import { anchorOf } from "../../scripts/citations/markdown.ts";
import { linkedFile, linkOf, navigation, sitePages } from "../../scripts/docs-site/navigation.ts";

const root = resolve(import.meta.dirname, "../..");
const packages = resolve(import.meta.dirname, "../node_modules");
const pages = sitePages(root);
const readmes = pages.filter((path) => path.endsWith("README.md"));
const excluded = ["**/node_modules/**", "**/dist/**", "**/.netfacts/**"];
/** The navigation says what is a page of the site; other Markdown, such as fixtures, is none. */
const others = globSync("**/*.md", { cwd: root, exclude: excluded }).filter((path) => !pages.includes(path));

/** Files that pages link to and that are no pages, such as openapi.json: the site brings them along. */
const files = new Set<string>();

/** The link as the site has it: a folder is its page, a file is one that the site brings along. Links to pages are VitePress's to check. */
function siteLink(page: string, href: string): string {
  const target = linkedFile(root, page, href);
  if (target === null || /\.md(#|$)/.test(href)) return href;
  if (target.endsWith(".md")) return linkOf(target);
  files.add(target);
  return `/${target}`;
}

export default defineConfig({
  title: "Netfacts",
  description: "IP, routing and ASN intelligence API that you run yourself",
  srcDir: "..",
  srcExclude: [...excluded, ...others],
  outDir: ".vitepress/dist",
  cacheDir: ".vitepress/cache",
  rewrites: Object.fromEntries(readmes.map((path) => [path, path.replace(/README\.md$/, "index.md")])),
  ignoreDeadLinks: false,
  markdown: {
    anchor: { slugify: anchorOf },
    config(markdown) {
      markdown.core.ruler.push("site-links", ({ env, tokens }) => {
        const page = String(env.relativePath ?? "").replace(/index\.md$/, "README.md");
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === "link_open" ? token.attrGet("href") : null;
          if (href === null) continue;
          const link = siteLink(page, href);
          token.attrSet("href", link);
          if (files.has(link.slice(1))) token.attrSet("target", "_self");
        }
      });
    },
  },
  buildEnd({ outDir }) {
    for (const path of files) {
      mkdirSync(dirname(join(outDir, path)), { recursive: true });
      cpSync(join(root, path), join(outDir, path));
    }
  },
  // Pages outside docs find Vue here too.
  vite: {
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: join(packages, "vue/server-renderer/index.mjs") },
        { find: /^vue$/, replacement: join(packages, "vue/dist/vue.runtime.esm-bundler.js") },
      ],
    },
  },
  themeConfig: {
    search: { provider: "local" },
    sidebar: navigation(root),
    outline: { level: 2, label: "On this page" },
    nav: [
      { text: "Start", link: "/docs/getting-started" },
      { text: "API", link: "/docs/api/conventions" },
      { text: "Records", link: "/docs/api/records/" },
      { text: "Operation", link: "/docs/operations/services" },
    ],
  },
});
