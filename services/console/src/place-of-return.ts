/**
 * Restores the scroll position of a page when its reader goes back. The browser does so by itself only if the page has its full height at
 * once, but ours first loads its data.
 */

/** After this time the page is not expected to reach its former height. */
const waitMsMax = 10_000;
/** Events of a reader who moves on the page before the position is restored. */
const moves = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

let waiting: AbortController | null = null;

/** Stores the scroll position in the history. Call it before leaving a page. */
export function keepPlace(): void {
  waiting?.abort();
  history.replaceState({ top: scrollY }, "");
}

/**
 * Scrolls to the stored position as soon as the page is long enough, unless the reader moves first.
 *
 * @param state  state of the history entry, from `popstate`; nothing happens if it has no position.
 */
export function returnToPlace(state: unknown): void {
  waiting?.abort();
  const top = (state as { readonly top?: unknown } | null)?.top;
  if (typeof top !== "number" || top === 0) return;
  const ended = new AbortController();
  waiting = ended;
  const { signal } = ended;
  const height = new ResizeObserver(() => {
    if (document.documentElement.scrollHeight - innerHeight < top) return;
    scrollTo(0, top);
    ended.abort();
  });
  const timer = setTimeout(() => ended.abort(), waitMsMax);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    height.disconnect();
  });
  for (const move of moves) addEventListener(move, () => ended.abort(), { signal, passive: true });
  height.observe(document.body);
}
