/** The page that is shown, by the path of the URL. Links stay links: they open in a new tab, and work with the keyboard. */

import { signal } from "@preact/signals";

/** Without the query and the fragment, which no page uses. */
export const path = signal(location.pathname);

addEventListener("popstate", () => {
  path.value = location.pathname;
});

/** Shows a page of the console and moves the reader to its top. */
export function navigate(to: string): void {
  if (to !== location.pathname) history.pushState(null, "", to);
  path.value = to;
  scrollTo(0, 0);
  document.querySelector("main")?.focus({ preventScroll: true });
}

/** For the whole document: clicks on links to pages of the console. */
export function followLinks(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.origin !== location.origin || link.target !== "" || !isPage(link.pathname)) return;
  event.preventDefault();
  navigate(link.pathname);
}

function isPage(path: string): boolean {
  return path === "/" || /^\/(address|bulk|compare|prefix|as|validity|reverse-dns|data|key)(\/|$)/.test(path);
}
