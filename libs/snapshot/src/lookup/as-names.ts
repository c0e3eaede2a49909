/** Names by AS number. */

import type { AsNamesColumns } from "../sections/as-names.ts";
import { stringAt } from "../strings.ts";
import { buildWordIndex, WordIndex } from "../words/word-index.ts";
import { searchAscending } from "./route-table.ts";

/** Immutable; safe from any thread. */
export class AsNameTable {
  readonly #columns: AsNamesColumns;

  #words: WordIndex | null;

  /** @param words  from the loader; null: built at the first request. */
  constructor(columns: AsNamesColumns, words: WordIndex | null = null) {
    this.#columns = columns;
    this.#words = words;
  }

  get size(): number {
    return this.#columns.asn.length;
  }

  /** The name; null: no source gives one. */
  lookupName(asn: number): string | null {
    const at = this.rowOf(asn);
    return at < 0 ? null : this.nameAt(at);
  }

  /** AS numbers of the rows, ascending. */
  get asns(): Uint32Array {
    return this.#columns.asn;
  }

  /** The row of an AS number; negative: there is none. */
  rowOf(asn: number): number {
    return searchAscending(this.#columns.asn, asn);
  }

  /** The name of a row. */
  nameAt(row: number): string {
    return stringAt({ start: this.#columns.name_start, bytes: this.#columns.name_bytes }, row);
  }

  /** The name of each row. */
  *texts(): Generator<string> {
    for (let row = 0; row < this.size; row++) yield this.nameAt(row);
  }

  /** The index of the words of all names; builds it in steps if it is not built yet. */
  *words(): Generator<void, WordIndex> {
    this.#words ??= new WordIndex(yield* buildWordIndex(this.texts(), { grouped: false }));
    return this.#words;
  }

  /** Every AS number with its name, ascending. */
  *entries(): Generator<[asn: number, name: string]> {
    const { asn } = this.#columns;
    for (let at = 0; at < asn.length; at++) yield [asn[at] as number, this.nameAt(at)];
  }
}
