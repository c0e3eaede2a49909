/** Printing: shows all rows of a list instead of the visible ones, and light colours. */

import { signal } from "@preact/signals";

/** Parts that depend on this must render synchronously: the browser does not wait. */
export const isPrinting = signal(false);

function setPrinting(is: boolean): void {
  // Set the colours first: drawings use them.
  document.documentElement.toggleAttribute("data-printing", is);
  isPrinting.value = is;
}

/** Follows printing from now on, until the page is closed. */
export function followPrinting(): void {
  addEventListener("beforeprint", () => setPrinting(true));
  addEventListener("afterprint", () => setPrinting(false));
}
