/** Names by AS number. */

import type { AsNamesColumns } from "../sections/as-names.ts";
import { stringAt } from "../strings.ts";
import { searchAscending } from "./route-table.ts";

/** Immutable; safe from any thread. */
export class AsNameTable {
  readonly #columns: AsNamesColumns;

  constructor(columns: AsNamesColumns) {
    this.#columns = columns;
  }

  get size(): number {
    return this.#columns.asn.length;
  }

  /** The name, null when no source tells one. */
  lookupName(asn: number): string | null {
    const at = searchAscending(this.#columns.asn, asn);
    return at < 0 ? null : stringAt({ start: this.#columns.name_start, bytes: this.#columns.name_bytes }, at);
  }

  /** Every AS number with its name, ascending. */
  *entries(): Generator<[asn: number, name: string]> {
    const { asn, name_start, name_bytes } = this.#columns;
    for (let at = 0; at < asn.length; at++) yield [asn[at] as number, stringAt({ start: name_start, bytes: name_bytes }, at)];
  }
}
