/** The list of `/bulk` and its rows. They stay in the memory of the tab when its user leaves the page or uses another key. */

import { signal } from "@preact/signals";
import { type Row, Tally } from "./domain/bulk-table.ts";
import type { Extracted } from "./domain/extract.ts";

export interface Job extends Omit<Extracted, "addresses"> {
  readonly addresses: readonly (readonly [ip: string, lines: number])[];
  /** Rows of the first addresses, in the same order; the list grows. */
  readonly rows: Row[];
  /** Counts of the rows. */
  readonly tally: Tally;
}

/** Null: there is no list yet. */
export const job = signal<Job | null>(null);

/** The text in the field of the form. */
export const pasted = signal("");

export function newJob(extracted: Extracted): Job {
  return { ...extracted, addresses: [...extracted.addresses], rows: [], tally: new Tally() };
}
