/** The page that is shown, by the path and the query of the URL. Links stay links: they open in a new tab, and work with the keyboard. */

import { batch, signal } from "@preact/signals";

/** Without the query and the fragment, which no page uses. */
export const path = signal(location.pathname);
/** With `?`; empty without one. */
export const query = signal(location.search);

addEventListener("popstate", () => show(location.pathname, location.search));

/** Shows a page of the console and moves the reader to its top. */
export function navigate(to: string): void {
  if (to !== location.pathname + location.search) history.pushState(null, "", to);
  const mark = to.indexOf("?");
  if (mark < 0) show(to, "");
  else show(to.slice(0, mark), to.slice(mark));
  scrollTo(0, 0);
  document.querySelector("main")?.focus({ preventScroll: true });
}

function show(pathname: string, search: string): void {
  batch(() => {
    path.value = pathname;
    query.value = search;
  });
}

/** For the whole document: what handles clicks on links to pages, so that they are shown without a new document. */
export function linkFollower(isPage: (path: string) => boolean): (event: MouseEvent) => void {
  return (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    // Of a drawing, too: its links have no `origin`, and their `target` is an object.
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    const href = link?.getAttribute("href") ?? null;
    if (link === null || href === null || link.hasAttribute("target") || link.hasAttribute("download")) return;
    const to = new URL(href, location.href);
    if (to.origin !== location.origin || !isPage(to.pathname)) return;
    event.preventDefault();
    navigate(to.pathname + to.search);
  };
}

/** Of the public pages. */
export const followLinks = linkFollower(isPage);

/** The same paths as in `console-routes.ts` of the gateway: a link to any other one is left to the browser. */
function isPage(path: string): boolean {
  return /^\/(?:$|(?:address|prefix|as|reverse-dns)\/|(?:compare|validity)(?:\/|$)|(?:bulk|search|data|key)\/?$)/.test(path);
}
