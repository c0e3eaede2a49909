/** Makes text from outside (names of ASes, PTR names, sources) safe to show: without characters that move or hide others, and of bounded length. */

/** Most characters that are shown of a text from outside. */
export const shownMax = 300;

/** C0 and C1 controls, direction marks and overrides (Unicode UAX #9), zero-width characters and tags. */
const unshowable = /[\p{Cc}\p{Cs}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Replaces each of these characters by U+FFFD, and truncates the text. Show the result in `<bdi>`: letters have a direction too. */
export function plainText(text: string, charactersMax = shownMax): string {
  const head = text.length > 2 * charactersMax ? text.slice(0, 2 * charactersMax) : text;
  const characters = [...head.replaceAll(unshowable, "\ufffd")];
  const isCut = characters.length > charactersMax || head.length < text.length;
  return isCut ? `${characters.slice(0, charactersMax).join("")}…` : characters.join("");
}
