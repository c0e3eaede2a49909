/** Selects the page by the path and the query of the URL. Links stay real links: they can open in a new tab, and work with the keyboard. */

import { batch, signal } from "@preact/signals";
import { keepPlace, returnToPlace } from "./place-of-return.ts";

/** Path without the query and the fragment, which no page uses. */
export const path = signal(location.pathname);
/** Query with `?`; empty if there is none. */
export const query = signal(location.search);

addEventListener("popstate", ({ state }) => {
  show(location.pathname, location.search);
  returnToPlace(state);
});

/** Shows a page of the console and scrolls to its top. */
export function navigate(to: string): void {
  if (to !== location.pathname + location.search) {
    keepPlace();
    history.pushState(null, "", to);
  }
  const mark = to.indexOf("?");
  if (mark < 0) show(to, "");
  else show(to.slice(0, mark), to.slice(mark));
  scrollTo(0, 0);
  document.querySelector("main")?.focus({ preventScroll: true });
}

/** Shows the same page with another query, which starts with `?` or is empty, where the reader is. */
export function showQuery(search: string): void {
  if (search === location.search) return;
  keepPlace();
  history.pushState(null, "", location.pathname + search);
  query.value = search;
}

function show(pathname: string, search: string): void {
  batch(() => {
    path.value = pathname;
    query.value = search;
  });
}

/** Makes a click handler for the whole document, which shows linked pages without loading a new document. */
export function linkFollower(isPage: (path: string) => boolean): (event: MouseEvent) => void {
  return (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    // Includes links in SVG, which have no `origin`, and whose `target` is an object.
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const href = link?.getAttribute("href") ?? null;
    if (link === null || href === null || link.hasAttribute("target") || link.hasAttribute("download")) return;
    const to = new URL(href, location.href);
    if (to.origin !== location.origin || !isPage(to.pathname)) return;
    event.preventDefault();
    navigate(to.pathname + to.search);
  };
}

/** Click handler for the public pages. */
export const followLinks = linkFollower(isPage);

/** The same paths as in `console-routes.ts` of the gateway. The browser follows links to other paths itself. */
function isPage(path: string): boolean {
  return /^\/(?:$|(?:address|prefix|as|reverse-dns)\/|(?:compare|validity)(?:\/|$)|(?:bulk|search|data|key)\/?$)/.test(path);
}
