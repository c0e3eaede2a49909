/**
 * Object `history`: when each prefix was first and last seen with each origin, and when each AS was, over all tables imported so far. Ingest keeps it
 * beside the snapshot and updates it; pods load the part of it that is in section `routes`.
 */

import { type Columns, checkAscending, checkLengths, checkRuns, checkTimes, type SectionFormat, SectionFormatError } from "../columns.ts";

const columns = {
  /** Prefixes as section `routes` orders them, announced or not; each has an origin. */
  v4_address: "u32",
  v4_length: "u8",
  v6_words: "u32",
  v6_length: "u8",
  /** Bounds of each prefix's run in the origin columns. */
  origin_start: "u32",
  /** AS numbers, ascending within a run. AS_SETs and paths that name no origin have no history. */
  origin_as: "u32",
  /** Unix seconds of the oldest and newest table that had the origin. Never 0; first ≤ last. */
  first_seen: "u32",
  last_seen: "u32",
  /** ASes that originated a prefix other than a default route, ascending. */
  as_number: "u32",
  as_first_seen: "u32",
  as_last_seen: "u32",
} as const;

export const historyFormat: SectionFormat<typeof columns> = { kind: "history", version: 1, columns };
export type HistoryColumns = Columns<typeof columns>;

/** Refuses columns that cannot be merged: runs that lead out of bounds, and anything out of order. */
export function checkHistory(history: HistoryColumns): void {
  const { kind } = historyFormat;
  const { v4_address, v4_length, v6_words, v6_length, origin_start, origin_as, first_seen, last_seen } = history;
  checkLengths(kind, v4_length.length, { v4_address });
  checkLengths(kind, v6_length.length * 4, { v6_words });
  checkRuns(kind, "origin_start", origin_start, v4_length.length + v6_length.length, origin_as.length);
  checkLengths(kind, origin_as.length, { first_seen, last_seen });
  checkOrder("v4_length", v4_address, v4_length, 1);
  checkOrder("v6_length", v6_words, v6_length, 4);
  for (let entry = 0; entry + 1 < origin_start.length; entry++)
    checkAscending(kind, "origin_as", origin_as.subarray(origin_start[entry], origin_start[entry + 1]));
  checkTimes(kind, "first_seen", first_seen, last_seen);
  const { as_number, as_first_seen, as_last_seen } = history;
  checkAscending(kind, "as_number", as_number);
  checkLengths(kind, as_number.length, { as_first_seen, as_last_seen });
  checkTimes(kind, "as_first_seen", as_first_seen, as_last_seen);
}

/** @param size  words per address. */
function checkOrder(name: string, words: Uint32Array, lengths: Uint8Array, size: 1 | 4): void {
  for (let at = 0; at < lengths.length; at++) {
    let order = at === 0 ? 1 : 0;
    for (let word = 0; order === 0 && word < size; word++)
      order = (words[at * size + word] as number) - (words[(at - 1) * size + word] as number);
    if (order === 0) order = (lengths[at] as number) - (lengths[at - 1] as number);
    if (order <= 0 || (lengths[at] as number) > size * 32)
      throw new SectionFormatError(`section ${historyFormat.kind}: column ${name}[${at}] is not a prefix, or is out of order`);
  }
}
