/** The word that was probably meant. */

import { nearestWord } from "@netfacts/contracts";

/** `; did you mean "x"?` for the nearest known word; empty if none is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const nearest = nearestWord(word, known);
  return nearest === null ? "" : `; did you mean "${nearest}"?`;
}
