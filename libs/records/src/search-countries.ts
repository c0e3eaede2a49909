/** Countries by the words of their names, and by their codes. */

import { foldedWords, isOneEdit, mayBeMisspelt, rankOf, ranks } from "@netfacts/snapshot";
import countries from "i18n-iso-countries/index.js";
import { countryFlag } from "./country-flag.ts";

export interface RankedCountry {
  readonly title: string;
  readonly rank: number;
}

/** In the order of their codes. */
const listed = Object.keys(countries.getAlpha2Codes())
  .sort()
  .map((code) => {
    const title = `${countryFlag(code)?.name ?? code} (${code})`;
    return { title, words: foldedWords(title).map(({ text }) => text) };
  });

/** The countries whose title matches every word, and how many have each rank. */
export function countryRanks(words: readonly string[]): { readonly counts: Uint32Array; readonly found: readonly RankedCountry[] } {
  const counts = new Uint32Array(ranks);
  const found: RankedCountry[] = [];
  if (words.length === 0) return { counts, found };
  for (const country of listed) {
    const levels = words.map((word) => Math.min(...country.words.map((other) => levelBetween(word, other))));
    const worst = Math.max(...levels);
    if (worst === noLevel) continue;
    const isAtStart = levelBetween(words[0] as string, country.words[0] as string) !== noLevel;
    const rank = rankOf(worst, isAtStart, country.words.length);
    counts[rank] = (counts[rank] as number) + 1;
    found.push({ title: country.title, rank });
  }
  return { counts, found };
}

const noLevel = 3;

/** Place in `matchLevels`. */
function levelBetween(asked: string, word: string): number {
  if (word.startsWith(asked)) return word === asked ? 0 : 1;
  return mayBeMisspelt(asked) && isOneEdit(asked, word) ? 2 : noLevel;
}
