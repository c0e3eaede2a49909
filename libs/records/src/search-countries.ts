/** Countries by the words of their names, of other names that people use (`UK`, `USA`, `Turkey`), and by their codes. */

import { foldedWords, isOneEdit, mayBeMisspelt, rankOf, ranks } from "@netfacts/snapshot";
import countries from "i18n-iso-countries/index.js";
import { countryFlag } from "./country-flag.ts";

export interface RankedCountry {
  readonly title: string;
  readonly rank: number;
}

const names = countries.getNames("en", { select: "all" });

/** In the order of their codes. `forms`: the words of the title, and those that it would have with each other name. */
const listed = Object.keys(countries.getAlpha2Codes())
  .sort()
  .map((code) => {
    const title = `${countryFlag(code)?.name ?? code} (${code})`;
    // Without `U.S.A.`: each letter would find it before all countries that begin so.
    const others = (names[code] ?? [])
      .map((name) => wordsOf(`${name} (${code})`))
      .filter((words) => words.every(({ length }) => length > 1));
    return { title, forms: [wordsOf(title), ...others] };
  });

function wordsOf(title: string): string[] {
  return foldedWords(title).map(({ text }) => text);
}

/** The countries of which a form matches every word, by their best one, and how many have each rank. */
export function countryRanks(words: readonly string[]): { readonly counts: Uint32Array; readonly found: readonly RankedCountry[] } {
  const counts = new Uint32Array(ranks);
  const found: RankedCountry[] = [];
  if (words.length === 0) return { counts, found };
  for (const { title, forms } of listed) {
    const rank = Math.min(...forms.map((form) => formRank(words, form)));
    if (rank === Number.POSITIVE_INFINITY) continue;
    counts[rank] = (counts[rank] as number) + 1;
    found.push({ title, rank });
  }
  return { counts, found };
}

/** Infinite: a word matches none of the form's. */
function formRank(words: readonly string[], form: readonly string[]): number {
  const levels = words.map((word) => Math.min(...form.map((other) => levelBetween(word, other))));
  const worst = Math.max(...levels);
  if (worst === noLevel) return Number.POSITIVE_INFINITY;
  return rankOf(worst, levelBetween(words[0] as string, form[0] as string) !== noLevel, form.length);
}

const noLevel = 3;

/** Place in `matchLevels`. */
function levelBetween(asked: string, word: string): number {
  if (word.startsWith(asked)) return word === asked ? 0 : 1;
  return mayBeMisspelt(asked) && isOneEdit(asked, word) ? 2 : noLevel;
}
