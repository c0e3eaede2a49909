/** Finds countries by the words of their names, by other common names (`UK`, `USA`, `Turkey`), and by their codes. */

import { foldedWords, isOneEdit, mayBeMisspelt, rankOf, ranks } from "@netfacts/snapshot";
import countries from "i18n-iso-countries/index.js";
import { countryFlag } from "./country-flag.ts";

export interface RankedCountry {
  readonly title: string;
  readonly rank: number;
}

const names = countries.getNames("en", { select: "all" });

/** In the order of codes. `forms`: the words of the title, and of the title with each other name. */
const listed = Object.keys(countries.getAlpha2Codes())
  .sort()
  .map((code) => {
    const title = `${countryFlag(code)?.name ?? code} (${code})`;
    // Without names such as `U.S.A.`: each of its letters would match it before all countries that begin with the letter.
    const others = (names[code] ?? [])
      .map((name) => wordsOf(`${name} (${code})`))
      .filter((words) => words.every(({ length }) => length > 1));
    return { title, forms: [wordsOf(title), ...others] };
  });

function wordsOf(title: string): string[] {
  return foldedWords(title).map(({ text }) => text);
}

/** The countries with a form that matches every word, with the rank of their best form, and the number of countries of each rank. */
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

/** Infinity: a word matches no word of the form. */
function formRank(words: readonly string[], form: readonly string[]): number {
  const levels = words.map((word) => Math.min(...form.map((other) => levelBetween(word, other))));
  const worst = Math.max(...levels);
  if (worst === noLevel) return Number.POSITIVE_INFINITY;
  return rankOf(worst, levelBetween(words[0] as string, form[0] as string) !== noLevel, form.length);
}

const noLevel = 3;

/** An index of `matchLevels`, or `noLevel`. */
function levelBetween(asked: string, word: string): number {
  if (word.startsWith(asked)) return word === asked ? 0 : 1;
  return mayBeMisspelt(asked) && isOneEdit(asked, word) ? 2 : noLevel;
}
