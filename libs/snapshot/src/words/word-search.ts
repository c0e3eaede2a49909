/** Finds rows whose text matches every word of a question, and ranks them. */

import { matchLevels, rankedWords, type WordIndex } from "./word-index.ts";

/**
 * Number of ranks: better matches first, then texts whose first word matches the first word of the question, then short texts. Rows with the same
 * rank come in the order of the table.
 */
export const ranks = matchLevels.length * 2 * rankedWords;

/** @param level  the worst level among the words of the question. */
export function rankOf(level: number, isAtStart: boolean, words: number): number {
  return (level * 2 + (isAtStart ? 0 : 1)) * rankedWords + words;
}

export function levelOf(rank: number): number {
  return Math.floor(rank / (2 * rankedWords));
}

/** Visits rows that match a word by other means than the index, as runs of rows. They count as matches of the first word of their texts. */
export type OtherRows = (word: string, visit: (from: number, to: number, level: number) => void) => void;

/** If fewer rows than this share of all are found, they are sorted; otherwise all rows are scanned in order. */
const sortedShare = 1 / 32;

/**
 * Searches one index. The result of a search is valid until the next one, which cannot begin before the current call ends. Use it in one thread only.
 */
export class WordSearch {
  readonly index: WordIndex;
  readonly #others: OtherRows;
  /** Number of words of the question that the row matches so far. */
  readonly #matched: Uint8Array;
  /** The worst level so far, and the best level of the current word. */
  readonly #worst: Uint8Array;
  readonly #best: Uint8Array;
  readonly #atStart: Uint8Array;
  /** Rows that match the last word and all previous ones. */
  readonly #touched: Uint32Array;
  #touchedCount = 0;
  /** Number of words of the question. */
  #words = 0;

  constructor(index: WordIndex, others: OtherRows = () => {}) {
    this.index = index;
    this.#others = others;
    this.#matched = new Uint8Array(index.rows);
    this.#worst = new Uint8Array(index.rows);
    this.#best = new Uint8Array(index.rows);
    this.#atStart = new Uint8Array(index.rows);
    this.#touched = new Uint32Array(index.rows);
  }

  /**
   * Finds the rows that match every word; without words, none match.
   *
   * @param left rows that are left out; negative: none.
   * @returns the number of rows of each rank.
   *
   * Cost: one step for each posting of the words that match, and one for each row at most.
   */
  find(words: readonly string[], left: readonly number[] = []): Uint32Array {
    this.#words = words.length;
    this.#touchedCount = 0;
    this.#matched.fill(0);
    this.#atStart.fill(0);
    for (const [place, word] of words.entries()) this.#takeWord(place, word);
    for (const row of left) if (row >= 0) this.#matched[row] = 0;
    if (this.#touchedCount < this.index.rows * sortedShare) this.#touched.subarray(0, this.#touchedCount).sort();
    const counts = new Uint32Array(ranks);
    this.each((_row, rank) => {
      counts[rank] = (counts[rank] as number) + 1;
    });
    return counts;
  }

  /** Visits the rows that were found, ascending. */
  each(visit: (row: number, rank: number) => void): void {
    const [words, matched, worst, atStart, touched] = [this.#words, this.#matched, this.#worst, this.#atStart, this.#touched];
    const { rowWords } = this.index.parts;
    const isSorted = this.#touchedCount < matched.length * sortedShare;
    const end = isSorted ? this.#touchedCount : matched.length;
    if (words === 0) return;
    for (let at = 0; at < end; at++) {
      const row = isSorted ? (touched[at] as number) : at;
      if (matched[row] === words) visit(row, rankOf(worst[row] as number, atStart[row] === 1, rowWords[row] as number));
    }
  }

  #takeWord(place: number, word: string): void {
    const [worst, best, touched] = [this.#worst, this.#best, this.#touched];
    const { postingRow, postingPlace } = this.index.parts;
    this.#touchedCount = 0;
    this.index.eachRange(word, (from, to, level) => {
      for (let at = from; at < to; at++) this.#touch(postingRow[at] as number, place, level, postingPlace[at] === 0);
    });
    this.#others(word, (from, to, level) => {
      for (let row = from; row < to; row++) this.#touch(row, place, level, true);
    });
    for (let at = 0; at < this.#touchedCount; at++) {
      const row = touched[at] as number;
      worst[row] = place === 0 ? (best[row] as number) : Math.max(worst[row] as number, best[row] as number);
    }
  }

  #touch(row: number, place: number, level: number, isFirstWord: boolean): void {
    const before = this.#matched[row] as number;
    if (before < place) return;
    if (before === place) {
      this.#matched[row] = place + 1;
      this.#best[row] = level;
      this.#touched[this.#touchedCount++] = row;
    } else if (level < (this.#best[row] as number)) this.#best[row] = level;
    if (place === 0 && isFirstWord) this.#atStart[row] = 1;
  }
}
