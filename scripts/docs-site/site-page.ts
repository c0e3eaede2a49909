/** The frame of each page of the documentation site: navigation, search, headings of the page, and links to the previous and the next page. */

import type { PageHtml } from "./markdown-html.ts";
import type { NavigationGroup } from "./navigation.ts";

/** Path at which the site is served; its links begin with it. */
export const siteBase = "/docs/";

export interface SitePage extends PageHtml {
  /** `/docs/concepts`. */
  readonly link: string;
  readonly title: string;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** A page with fewer headings has no list of them, because it would not help. */
const outlineMin = 3;

export function sitePageHtml({ link, title, html, sections }: SitePage, groups: readonly NavigationGroup[]): string {
  const pages = groups.flatMap(({ items }) => items);
  const at = pages.findIndex((page) => page.link === link);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title === "Netfacts" ? "Netfacts documentation" : `${title} · Netfacts documentation`)}</title>
<link rel="stylesheet" href="${siteBase}site.css">
<script type="module" src="${siteBase}search.js"></script>
</head>
<body>
<a class="skip" href="#site-content">Skip to the page</a>
<header>
<a class="brand" href="${siteBase}">Netfacts documentation</a>
<div id="site-search" role="search" hidden>
<label for="site-query">Search the documentation</label>
<input id="site-query" type="search" autocomplete="off" spellcheck="false" placeholder="Press / to search">
<div id="site-found" aria-live="polite"></div>
</div>
<nav aria-label="Site"><a href="#site-contents" class="narrow">Contents</a> <a href="${siteBase}reference">API reference</a> <a href="/">Console</a></nav>
</header>
<div class="columns">
<main id="site-content" tabindex="-1">
${html}
<nav class="around" aria-label="Previous and next page">
${neighbour("Previous", pages[at - 1])}${neighbour("Next", pages[at + 1])}
</nav>
</main>
${outline(sections)}
<nav id="site-contents" aria-label="Contents">
${groups.map((group) => groupHtml(group, link)).join("\n")}
</nav>
</div>
</body>
</html>
`;
}

function neighbour(label: string, page: { readonly text: string; readonly link: string } | undefined): string {
  return page === undefined ? "<span></span>" : `<a href="${page.link}"><small>${label}</small> ${escapeHtml(page.text)}</a>\n`;
}

function outline(sections: PageHtml["sections"]): string {
  const listed = sections.filter(({ level, anchor }) => anchor !== "" && level === 2);
  if (listed.length < outlineMin) return "<div></div>";
  const items = listed.map(({ anchor, title }) => `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(title)}</a></li>`);
  return `<nav id="site-outline" aria-label="On this page"><strong>On this page</strong><ul>\n${items.join("\n")}\n</ul></nav>`;
}

function groupHtml({ text, collapsed, items }: NavigationGroup, link: string): string {
  const isHere = items.some((item) => item.link === link);
  const list = items
    .map((item) => `<li><a href="${item.link}"${item.link === link ? ' aria-current="page"' : ""}>${escapeHtml(item.text)}</a></li>`)
    .join("\n");
  return `<details${!collapsed || isHere ? " open" : ""}><summary>${escapeHtml(text)}</summary><ul>\n${list}\n</ul></details>`;
}
