/**
 * Where a reader was on a page that they come back to. The browser restores this place only while the page is there, and ours is asked for
 * anew.
 */

/** After this time a page will not become as long as it was. */
const waitMsMax = 10_000;
/** What a reader does who goes somewhere else on the page by then. */
const moves = ["wheel", "touchstart", "pointerdown", "keydown"] as const;

let waiting: AbortController | null = null;

/** Keeps the place in the history. Call it before a page is left. */
export function keepPlace(): void {
  waiting?.abort();
  history.replaceState({ top: scrollY }, "");
}

/**
 * Goes to the kept place as soon as the page is long enough for it, unless its reader moves before.
 *
 * @param state  of the history, as `popstate` tells it; nothing happens if it has no place.
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
