/** The theme: the one of the system, or a choice that lasts while the page is open. */

import { signal } from "@preact/signals";

export const themes = ["auto", "light", "dark"] as const;
type Theme = (typeof themes)[number];

export const theme = signal<Theme>("auto");

export function setTheme(name: string): void {
  const chosen = themes.find((each) => each === name);
  if (chosen === undefined) return;
  theme.value = chosen;
  document.documentElement.dataset.theme = chosen;
}
