/**
 * Search of the documentation. The index is fetched when a search begins. scripts/docs-site/write-site.ts builds this file into the site; it
 * is the only script there.
 */

import MiniSearch, { type AsPlainObject, type Options } from "minisearch";

const resultsMax = 12;
const box = document.querySelector<HTMLElement>("#site-search");
const query = document.querySelector<HTMLInputElement>("#site-query");
const found = document.querySelector<HTMLElement>("#site-found");
let index: Promise<MiniSearch> | null = null;

async function load(): Promise<MiniSearch> {
  const answer = await fetch("/docs/search-index.json");
  if (!answer.ok) throw new Error(`the index is not available: ${answer.status}`);
  const { options, index } = (await answer.json()) as { readonly options: Options; readonly index: AsPlainObject };
  return MiniSearch.loadJS(index, options);
}

async function show(text: string): Promise<void> {
  if (found === null) return;
  if (text === "") return found.replaceChildren();
  index ??= load();
  try {
    const search = await index;
    // Show results only for the last text.
    if (query?.value.trim() !== text) return;
    const results = search.search(text, { prefix: true, fuzzy: 0.15, boost: { title: 3, page: 2 }, combineWith: "AND" });
    found.replaceChildren(results.length === 0 ? "Nothing found." : list(results.slice(0, resultsMax)));
  } catch {
    index = null;
    found.replaceChildren("The search is not available. Check the connection, and type again.");
  }
}

function list(results: readonly { readonly id: string; readonly page?: string; readonly title?: string }[]): HTMLElement {
  const items = document.createElement("ul");
  for (const { id, page = "", title = "" } of results) {
    const link = document.createElement("a");
    link.href = id;
    link.append(title);
    if (page !== title) {
      const place = document.createElement("small");
      place.append(page);
      link.append(" ", place);
    }
    const item = document.createElement("li");
    item.append(link);
    items.append(item);
  }
  return items;
}

if (box !== null && query !== null) {
  box.hidden = false;
  query.addEventListener("input", () => void show(query.value.trim()));
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      query.focus();
    } else if (event.key === "Escape" && box.contains(event.target as Node)) {
      query.value = "";
      found?.replaceChildren();
      query.focus();
    }
  });
}
