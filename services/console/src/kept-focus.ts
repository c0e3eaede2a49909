/** Keeps the focus on the page. A browser leaves it on no element when the one that has it is removed, and a screen reader loses its place. */

/** What gets the focus instead: the nearest of these around the removed element. */
const places = "dialog, .virtual, .card, main";

/** Follows the focus from now on, until the page is closed. */
export function keepFocus(): void {
  let last: Element | null = null;
  addEventListener("focusin", ({ target }) => {
    last = target instanceof Element ? target : null;
  });
  addEventListener("focusout", () => {
    // A removed element loses the focus while it is still in the document.
    queueMicrotask(() => {
      if (last?.isConnected && last !== document.activeElement) last = null;
    });
  });
  new MutationObserver((changes) => {
    const lost = last;
    if (lost === null || lost.isConnected || document.activeElement !== document.body) return;
    last = null;
    const removal = changes.find(({ target, removedNodes }) => target.isConnected && [...removedNodes].some((node) => node.contains(lost)));
    const around = removal?.target instanceof Element ? removal.target.closest<HTMLElement>(places) : null;
    const place = around ?? document.querySelector<HTMLElement>("main");
    if (place === null) return;
    if (!place.hasAttribute("tabindex")) place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
}
