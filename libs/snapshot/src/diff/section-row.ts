/** A row for comparing two snapshots: its identity, the values that may differ, and a key that ascends as sections do. */

import type { Address, Prefix } from "@netfacts/address";

export interface SectionRow {
  /** Rows of two snapshots match if their keys are equal; ascends from row to row. */
  readonly key: string;
  /** Names the row, for people and programs. */
  readonly identity: Readonly<Record<string, unknown>>;
  /** Values that may change while it stays the same row: plain values, and lists of them. */
  readonly value: Readonly<Record<string, unknown>>;
}

export function byKey(a: SectionRow, b: SectionRow): number {
  return a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
}

/** Sorts as prefixes do in a section: by address, then by length. */
export function prefixKey(prefix: Prefix): string {
  return `${addressKey(prefix)} ${numberKey(prefix.length, 3)}`;
}

export function addressKey({ version, w0, w1, w2, w3 }: Address): string {
  return version === 4 ? `4 ${hex(w0)}` : `6 ${hex(w0)}${hex(w1)}${hex(w2)}${hex(w3)}`;
}

function hex(word: number): string {
  return word.toString(16).padStart(8, "0");
}

/** @param digits  default: enough for any AS number. */
export function numberKey(value: number, digits = 10): string {
  return String(value).padStart(digits, "0");
}
