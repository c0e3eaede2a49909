/**
 * Derives the word index of a table from that of the previous table if few texts changed: one pass over the rows instead of folding and sorting all
 * words.
 */

import { foldedWords } from "./folded-words.ts";
import { noRow, shared, WordIndex, type WordIndexParts } from "./word-index.ts";

/** Texts with the key of each row; keys ascend. */
export interface KeyedTexts {
  readonly keys: Uint32Array;
  readonly texts: Iterable<string | null>;
}

/** With more changes than this share of the rows, building the whole index is as fast. */
const changedShare = 1 / 16;

/** A word of a changed row. */
interface Occurrence {
  readonly word: string;
  readonly row: number;
  readonly place: number;
}

/**
 * Returns the same bytes as `buildWordIndex` for the texts; null if too many rows changed.
 *
 * @param parts  the index of the previous texts, built with the same `grouped`.
 *
 * Cost: for 90,000 names about a quarter of building the whole index.
 */
export function changedWordIndex(
  { parts, ...before }: KeyedTexts & { readonly parts: WordIndexParts },
  now: KeyedTexts,
  { grouped }: { readonly grouped: boolean },
): WordIndexParts | null {
  const rows = compareRows({ ...before, rowWords: parts.rowWords }, now, grouped);
  if (rows.changed.length > now.keys.length * changedShare) return null;
  const rowWords = shared(Uint8Array, now.keys.length);
  for (const [row, kept] of rows.movedTo.entries()) if (kept !== noRow) rowWords[kept] = parts.rowWords[row] as number;
  const occurrences: Occurrence[] = [];
  for (const { row, text } of rows.changed) {
    const found = foldedWords(text);
    rowWords[row] = found.length;
    for (const [place, { text: word }] of found.entries())
      if (found.findIndex((other) => other.text === word) === place) occurrences.push({ word, row, place });
  }
  return { ...joinWords(new WordIndex(parts), rows.movedTo, occurrences), rowWords, nextSame: rows.nextSame };
}

interface ComparedRows {
  /** For each previous row that has words and keeps them, its row now; otherwise `noRow`. Ascends. */
  readonly movedTo: Uint32Array;
  /** Rows whose words are not those of a previous row. Ascending. */
  readonly changed: readonly { readonly row: number; readonly text: string }[];
  readonly nextSame: Uint32Array;
}

function compareRows(before: KeyedTexts & { readonly rowWords: Uint8Array }, now: KeyedTexts, grouped: boolean): ComparedRows {
  const movedTo = new Uint32Array(before.keys.length).fill(noRow);
  const changed: { row: number; text: string }[] = [];
  const nextSame = shared(Uint32Array, grouped ? now.keys.length : 0).fill(noRow);
  const lastWith = new Map<string, number>();
  const texts = [...before.texts];
  let old = 0;
  let row = -1;
  for (const text of now.texts) {
    row++;
    if (text === null) continue;
    if (grouped) {
      const first = lastWith.get(text);
      lastWith.set(text, row);
      if (first !== undefined) {
        nextSame[first] = row;
        continue;
      }
    }
    const key = now.keys[row] as number;
    while (old < texts.length && (before.keys[old] as number) < key) old++;
    const isSame = before.keys[old] === key && texts[old] === text;
    if (isSame && (before.rowWords[old] as number) > 0) movedTo[old] = row;
    // The same text without words has not changed. If rows are grouped, it may have none because another row stood for it.
    else if (!isSame || grouped) changed.push({ row, text });
  }
  return { movedTo, changed, nextSame };
}

type Words = Omit<WordIndexParts, "rowWords" | "nextSame">;

function joinWords(index: WordIndex, movedTo: Uint32Array, occurrences: readonly Occurrence[]): Words {
  const { wordStart, wordUnits, byEnd, postingStart, postingRow, postingPlace } = index.parts;
  const oldWords = byEnd.length;
  const added = Map.groupBy(occurrences, ({ word }) => word);
  /** Number of postings that each previous word keeps. */
  const kept = new Uint32Array(oldWords);
  for (let word = 0; word < oldWords; word++) {
    const end = postingStart[word + 1] as number;
    for (let at = postingStart[word] as number; at < end; at++)
      if (movedTo[postingRow[at] as number] !== noRow) kept[word] = (kept[word] as number) + 1;
  }
  const fresh: { readonly text: string; readonly before: number }[] = [];
  /** Postings that are added to previous words. */
  const more = new Map<number, readonly Occurrence[]>();
  for (const [text, own] of added) {
    const { at, isThere } = index.placeOf(text);
    if (isThere) more.set(at, own);
    else fresh.push({ text, before: at });
  }
  fresh.sort((a, b) => (a.text < b.text ? -1 : 1));
  const gone = (word: number): boolean => kept[word] === 0 && !more.has(word);
  // All words in order: the previous ones at their new places, and the new ones between.
  const places = new Uint32Array(oldWords).fill(noRow);
  const freshPlaces = new Uint32Array(fresh.length);
  let [count, units, next] = [0, 0, 0];
  const placeFresh = (word: number): void => {
    for (let one = fresh[next]; one !== undefined && one.before <= word; one = fresh[++next]) {
      freshPlaces[next] = count++;
      units += one.text.length;
    }
  };
  for (let word = 0; word < oldWords; word++) {
    placeFresh(word);
    if (gone(word)) continue;
    places[word] = count++;
    units += (wordStart[word + 1] as number) - (wordStart[word] as number);
  }
  placeFresh(oldWords);

  const keptPostings = kept.reduce((sum, each) => sum + each, 0);
  const out = {
    wordStart: shared(Uint32Array, count + 1),
    wordUnits: shared(Uint16Array, units),
    byEnd: shared(Uint32Array, count),
    postingStart: shared(Uint32Array, count + 1),
    postingRow: shared(Uint32Array, keptPostings + occurrences.length),
    postingPlace: shared(Uint8Array, keptPostings + occurrences.length),
  };
  let [place, unit, posting] = [0, 0, 0];
  const push = (row: number, at: number): void => {
    out.postingRow[posting] = row;
    out.postingPlace[posting++] = at;
  };
  const endWord = (): void => {
    out.wordStart[++place] = unit;
    out.postingStart[place] = posting;
  };
  next = 0;
  const writeFresh = (word: number): void => {
    for (let one = fresh[next]; one !== undefined && one.before <= word; one = fresh[++next]) {
      for (let index = 0; index < one.text.length; index++) out.wordUnits[unit++] = one.text.charCodeAt(index);
      for (const { row, place } of added.get(one.text) ?? []) push(row, place);
      endWord();
    }
  };
  for (let word = 0; word < oldWords; word++) {
    writeFresh(word);
    if (places[word] === noRow) continue;
    const from = wordStart[word] as number;
    const to = wordStart[word + 1] as number;
    out.wordUnits.set(wordUnits.subarray(from, to), unit);
    unit += to - from;
    // Both lists ascend by row.
    const own = more.get(word) ?? [];
    let taken = 0;
    const end = postingStart[word + 1] as number;
    for (let at = postingStart[word] as number; at < end; at++) {
      const row = movedTo[postingRow[at] as number] as number;
      if (row === noRow) continue;
      for (let one = own[taken]; one !== undefined && one.row < row; one = own[++taken]) push(one.row, one.place);
      push(row, postingPlace[at] as number);
    }
    for (let one = own[taken]; one !== undefined; one = own[++taken]) push(one.row, one.place);
    endWord();
  }
  writeFresh(oldWords);

  const byEndFresh = fresh
    .map(({ text }, at) => ({ text, before: index.placeByEnd(text), place: freshPlaces[at] as number }))
    .sort((a, b) => a.before - b.before || (isBeforeByEnd(a.text, b.text) ? -1 : 1));
  let [written, nextByEnd] = [0, 0];
  for (let at = 0; at <= oldWords; at++) {
    for (let one = byEndFresh[nextByEnd]; one !== undefined && one.before <= at; one = byEndFresh[++nextByEnd])
      out.byEnd[written++] = one.place;
    const word = places[byEnd[at] as number];
    if (at < oldWords && word !== noRow) out.byEnd[written++] = word as number;
  }
  return out;
}

/** Whether a word comes first if the units of both are read backwards. */
function isBeforeByEnd(a: string, b: string): boolean {
  for (let back = 1; back <= a.length && back <= b.length; back++) {
    const difference = a.charCodeAt(a.length - back) - b.charCodeAt(b.length - back);
    if (difference !== 0) return difference < 0;
  }
  return a.length < b.length;
}
