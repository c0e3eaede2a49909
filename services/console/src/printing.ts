/** On paper: all rows of a list instead of those in sight, and light colours. */

import { signal } from "@preact/signals";

/** What depends on it must be rendered or painted at once: the browser waits for nothing. */
export const isPrinting = signal(false);

function setPrinting(is: boolean): void {
  // First the colours, for what is painted with them.
  document.documentElement.toggleAttribute("data-printing", is);
  isPrinting.value = is;
}

/** From now on, for as long as the page is open. */
export function followPrinting(): void {
  addEventListener("beforeprint", () => setPrinting(true));
  addEventListener("afterprint", () => setPrinting(false));
}
