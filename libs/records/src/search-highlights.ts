/** Parts of a title that match the words of a question. */

import type { SearchHighlight } from "@netfacts/contracts";
import { type FoldedWord, foldedWords, isOneEdit, mayBeMisspelt, prefixEnd, wordsMax } from "@netfacts/snapshot";

/** For each word of the question, the ranges of the words that match it best. Ranges ascend and do not overlap; offsets in UTF-16 units. */
export function highlightsOf(title: string, words: readonly string[]): SearchHighlight[] {
  // The title of an AS has the AS number before the name, of which `wordsMax` words are found.
  const found = foldedWords(title, wordsMax + 1).flatMap(withNumber);
  const ranges = words.flatMap(formsOf).flatMap((word): SearchHighlight[] => {
    const exact = found.filter(({ text }) => text === word);
    if (exact.length > 0) return exact;
    const begun = found.filter(({ text }) => text.startsWith(word));
    if (begun.length > 0) return begun.map((each) => ({ start: each.start, end: prefixEnd(title, each, word.length) }));
    return mayBeMisspelt(word) ? found.filter(({ text }) => isOneEdit(text, word)) : [];
  });
  return merged(ranges);
}

/** Titles contain AS numbers as "AS33"; a question may use "ASN33". */
function formsOf(word: string): string[] {
  const digits = /^asn(\d+)$/.exec(word)?.[1];
  return digits === undefined ? [word] : [word, `as${digits}`];
}

/** An AS number matches without "AS", too. */
function withNumber(word: FoldedWord): FoldedWord[] {
  const digits = /^as(\d+)$/.exec(word.text)?.[1];
  return digits === undefined ? [word] : [word, { ...word, text: digits, start: word.start + 2 }];
}

function merged(ranges: readonly SearchHighlight[]): SearchHighlight[] {
  const list: SearchHighlight[] = [];
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = list.at(-1);
    if (last !== undefined && start <= last.end) list[list.length - 1] = { start: last.start, end: Math.max(last.end, end) };
    else list.push({ start, end });
  }
  return list;
}
