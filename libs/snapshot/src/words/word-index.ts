/** An index of the words of a table's texts: finds the rows that have a word, a word with a given beginning, or a word one edit away. */

import { GrowableUint8, GrowableUint32, release } from "../growable.ts";
import { type FoldedWord, foldedWords, isOneEdit, mayBeMisspelt, wordsMax } from "./folded-words.ts";

/** In SharedArrayBuffers, so that posting the index copies nothing. */
export interface WordIndexParts {
  /** Different words, in the order of their UTF-16 units; one start more than there are words. */
  readonly wordStart: Uint32Array;
  readonly wordUnits: Uint16Array;
  /** Indexes of the same words, in the order of their units read backwards. */
  readonly byEnd: Uint32Array;
  /** For each word a run of rows, ascending, with the place of the word in the text of the row. */
  readonly postingStart: Uint32Array;
  readonly postingRow: Uint32Array;
  readonly postingPlace: Uint8Array;
  /** Number of words in the text of each row; 0: search does not find the row. */
  readonly rowWords: Uint8Array;
  /** The next row with the same text, `noRow` after the last one; empty if rows with one text are found one by one. */
  readonly nextSame: Uint32Array;
}

export const noRow = 0xffff_ffff;

/** How well a word of a text matches, best first. */
export const matchLevels = ["exact", "prefix", "edit"] as const;

const stepRows = 128;
const stepWords = 4_096;
const stepPostings = 32_768;

/**
 * Builds the index, in steps of at most a few milliseconds.
 *
 * @param texts   one for each row; null: none.
 * @param grouped whether only the first row of a text is found, and leads to the others.
 */
export function* buildWordIndex(
  texts: Iterable<string | null>,
  { grouped }: { readonly grouped: boolean },
): Generator<void, WordIndexParts> {
  const ids = new Map<string, number>();
  const words: string[] = [];
  /** For each word the last row that has it: only its first place in a text counts. */
  const lastRow: number[] = [];
  const occurrences = { word: new GrowableUint32(), row: new GrowableUint32(), place: new GrowableUint8() };
  const lengths = new GrowableUint8();
  const next = new GrowableUint32();
  const lastWith = new Map<string, number>();
  for (const text of texts) {
    const row = lengths.length;
    const before = grouped && text !== null ? lastWith.get(text) : undefined;
    if (grouped) {
      next.push(noRow);
      if (before !== undefined) next.view()[before] = row;
      if (text !== null) lastWith.set(text, row);
    }
    const found = text === null || before !== undefined ? [] : foldedWords(text);
    lengths.push(found.length);
    for (let place = 0; place < found.length; place++) {
      const word = (found[place] as FoldedWord).text;
      let id = ids.get(word);
      if (id === undefined) {
        id = words.push(word) - 1;
        ids.set(word, id);
      } else if (lastRow[id] === row) continue;
      lastRow[id] = row;
      occurrences.word.push(id);
      occurrences.row.push(row);
      occurrences.place.push(place);
    }
    if (row % stepRows === 0) yield;
  }
  const order = yield* sortedOrder(words);
  const rank = new Uint32Array(words.length);
  for (let place = 0; place < order.length; place++) rank[order[place] as number] = place;
  const packed = yield* packWords(words, order);
  const backwards = yield* sortedOrder(yield* reversed(words));
  const postings = yield* packPostings(occurrences, rank);
  const parts = {
    ...packed,
    byEnd: shared(
      Uint32Array,
      backwards.length,
      backwards.map((id) => rank[id] as number),
    ),
    ...postings,
    rowWords: shared(Uint8Array, lengths.length, lengths.view()),
    nextSame: shared(Uint32Array, next.length, next.view()),
  };
  release(occurrences.word.view(), occurrences.row.view(), occurrences.place.view(), lengths.view(), next.view());
  return parts;
}

/** Indexes of the texts in the order of their UTF-16 units, which is that of `<`. Sorts texts with the same two first units in one step. */
function* sortedOrder(texts: readonly string[]): Generator<void, Uint32Array> {
  const groups = new Map<number, number[]>();
  for (const [id, text] of texts.entries()) {
    const head = text.charCodeAt(0) * 0x1_0000 + (text.length > 1 ? text.charCodeAt(1) : 0);
    const group = groups.get(head);
    if (group === undefined) groups.set(head, [id]);
    else group.push(id);
    if (id % stepWords === 0) yield;
  }
  const order = new Uint32Array(texts.length);
  let count = 0;
  let sorted = 0;
  for (const [, group] of [...groups].sort(([a], [b]) => a - b)) {
    group.sort((a, b) => ((texts[a] as string) < (texts[b] as string) ? -1 : 1));
    order.set(group, count);
    count += group.length;
    if (count - sorted < 512) continue;
    sorted = count;
    yield;
  }
  return order;
}

function* reversed(words: readonly string[]): Generator<void, string[]> {
  const list: string[] = [];
  for (const word of words) {
    let text = "";
    for (let at = word.length - 1; at >= 0; at--) text += word.charAt(at);
    if (list.push(text) % stepWords === 0) yield;
  }
  return list;
}

function* packWords(words: readonly string[], order: Uint32Array): Generator<void, Pick<WordIndexParts, "wordStart" | "wordUnits">> {
  const wordStart = shared(Uint32Array, words.length + 1);
  for (let place = 0; place < order.length; place++)
    wordStart[place + 1] = (wordStart[place] as number) + (words[order[place] as number] as string).length;
  yield;
  const wordUnits = shared(Uint16Array, wordStart[words.length] as number);
  let at = 0;
  for (const [place, id] of order.entries()) {
    const word = words[id] as string;
    for (let unit = 0; unit < word.length; unit++) wordUnits[at++] = word.charCodeAt(unit);
    if (place % stepWords === 0) yield;
  }
  return { wordStart, wordUnits };
}

type Postings = Pick<WordIndexParts, "postingStart" | "postingRow" | "postingPlace">;

/** Occurrences come with ascending rows, and stay so within each word. */
function* packPostings(
  { word, row, place }: { readonly word: GrowableUint32; readonly row: GrowableUint32; readonly place: GrowableUint8 },
  rank: Uint32Array,
): Generator<void, Postings> {
  const postingStart = shared(Uint32Array, rank.length + 1);
  for (let index = 0; index < word.length; index++) {
    const after = (rank[word.at(index)] as number) + 1;
    postingStart[after] = (postingStart[after] as number) + 1;
    if (index % stepPostings === 0) yield;
  }
  for (let at = 0; at < rank.length; at++) postingStart[at + 1] = (postingStart[at + 1] as number) + (postingStart[at] as number);
  const postingRow = shared(Uint32Array, word.length);
  const postingPlace = shared(Uint8Array, word.length);
  const free = postingStart.slice();
  for (let index = 0; index < word.length; index++) {
    const of = rank[word.at(index)] as number;
    const at = free[of] as number;
    free[of] = at + 1;
    postingRow[at] = row.at(index);
    postingPlace[at] = place.at(index);
    if (index % stepPostings === 0) yield;
  }
  return { postingStart, postingRow, postingPlace };
}

interface SharedArray<A> {
  new (buffer: SharedArrayBuffer): A;
  readonly BYTES_PER_ELEMENT: number;
}

/** An array in a SharedArrayBuffer. */
export function shared<A extends Uint8Array | Uint16Array | Uint32Array>(type: SharedArray<A>, length: number, from?: A): A {
  const array = new type(new SharedArrayBuffer(length * type.BYTES_PER_ELEMENT));
  if (from !== undefined) array.set(from);
  return array;
}

/** Immutable; safe from any thread. */
export class WordIndex {
  readonly parts: WordIndexParts;

  constructor(parts: WordIndexParts) {
    this.parts = parts;
  }

  /** Number of rows of the table, including those without words. */
  get rows(): number {
    return this.parts.rowWords.length;
  }

  /** Size in memory. */
  get bytes(): number {
    return Object.values(this.parts).reduce((sum, { byteLength }: Uint8Array) => sum + byteLength, 0);
  }

  /**
   * Visits the postings of every word that matches, as ranges: `level` is an index of `matchLevels`. A posting can be in two ranges.
   *
   * Cost: one step for each range, and for each word with the same first or last half.
   */
  eachRange(word: string, visit: (from: number, to: number, level: number) => void): void {
    const { postingStart } = this.parts;
    const visitWords = (from: number, to: number, level: number): void => {
      if (from < to) visit(postingStart[from] as number, postingStart[to] as number, level);
    };
    const from = this.#firstNotBelow(word, false);
    const to = this.#firstNotBelow(word, true);
    const longer = from < to && this.#length(from) === word.length ? from + 1 : from;
    visitWords(from, longer, 0);
    visitWords(longer, to, 1);
    if (mayBeMisspelt(word)) for (const at of this.#oneEditFrom(word)) visitWords(at, at + 1, 2);
  }

  /** Rows with the same text as this one, which comes first; only for an index with grouped rows. */
  *sameText(row: number): Generator<number> {
    for (let at = row; at !== noRow; at = this.parts.nextSame[at] as number) yield at;
  }

  /** The place of a word, or the place at which it would be inserted. */
  placeOf(word: string): { readonly at: number; readonly isThere: boolean } {
    const at = this.#firstNotBelow(word, false);
    return { at, isThere: at < this.parts.byEnd.length && this.#text(at) === word };
  }

  /** The place at which a word that is not there would be inserted, in the order of units read backwards. */
  placeByEnd(word: string): number {
    return this.#firstByEnd(word, false);
  }

  /**
   * Words one edit away. In each, the first half of the word is an unchanged beginning, or its second half an unchanged end, or the letters in the
   * middle are swapped.
   */
  #oneEditFrom(word: string): Set<number> {
    const found = new Set<number>();
    const half = word.length >> 1;
    const check = (at: number): void => {
      const length = this.#length(at);
      if (Math.abs(length - word.length) <= 1 && isOneEdit(this.#text(at), word)) found.add(at);
    };
    const head = word.slice(0, half);
    for (let at = this.#firstNotBelow(head, false), end = this.#firstNotBelow(head, true); at < end; at++) check(at);
    const tail = word.slice(half);
    const { byEnd } = this.parts;
    for (let at = this.#firstByEnd(tail, false), end = this.#firstByEnd(tail, true); at < end; at++) check(byEnd[at] as number);
    const swapped = word.slice(0, half - 1) + word.charAt(half) + word.charAt(half - 1) + word.slice(half + 1);
    const at = this.#firstNotBelow(swapped, false);
    if (at < byEnd.length) check(at);
    return found;
  }

  #length(at: number): number {
    const { wordStart } = this.parts;
    return (wordStart[at + 1] as number) - (wordStart[at] as number);
  }

  #text(at: number): string {
    const { wordStart, wordUnits } = this.parts;
    return String.fromCharCode(...wordUnits.subarray(wordStart[at], wordStart[at + 1]));
  }

  /** The first word that is not before the text; with `past`, the first one after all words that begin with it. */
  #firstNotBelow(text: string, past: boolean): number {
    const { wordStart, wordUnits } = this.parts;
    return firstPlace(wordStart.length - 1, (at) => {
      const start = wordStart[at] as number;
      return compare(
        text,
        past,
        this.#length(at),
        (unit) => wordUnits[start + unit] as number,
        (unit) => text.charCodeAt(unit),
      );
    });
  }

  /** As `#firstNotBelow`, in the order of units read backwards. */
  #firstByEnd(text: string, past: boolean): number {
    const { byEnd, wordStart, wordUnits } = this.parts;
    return firstPlace(byEnd.length, (place) => {
      const at = byEnd[place] as number;
      const last = (wordStart[at + 1] as number) - 1;
      return compare(
        text,
        past,
        this.#length(at),
        (unit) => wordUnits[last - unit] as number,
        (unit) => text.charCodeAt(text.length - 1 - unit),
      );
    });
  }
}

/** Whether a word comes before the text; with `past`, also if it begins with the text. */
function compare(
  text: string,
  past: boolean,
  length: number,
  unitOfWord: (unit: number) => number,
  unitOfText: (unit: number) => number,
): boolean {
  const common = Math.min(length, text.length);
  for (let unit = 0; unit < common; unit++) {
    const difference = unitOfWord(unit) - unitOfText(unit);
    if (difference !== 0) return difference < 0;
  }
  return length < text.length || past;
}

/** The first place of an ascending table for which `isBefore` is false. */
function firstPlace(count: number, isBefore: (at: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Number of different word counts that ranks distinguish. */
export const rankedWords = wordsMax + 1;
