/** Sorted prefix columns: their form, and the error for columns that violate it. */

/** `address[i]/length[i]`; addresses are unsigned. */
export interface Ipv4Columns {
  readonly address: Uint32Array;
  readonly length: Uint8Array;
}

/** Four unsigned words per prefix in network order, `words[4 * i]` first. */
export interface Ipv6Columns {
  readonly words: Uint32Array;
  readonly length: Uint8Array;
}

/**
 * A set of prefixes: each family strictly ascending by (address, length), bits past the length 0. That order is the preorder of the trie: a prefix
 * comes before all its more-specifics, which follow it without a gap.
 *
 * Arrays may be views of any buffer, such as that of a snapshot file; they are read in place and must not change.
 */
export interface PrefixColumns {
  readonly ipv4: Ipv4Columns;
  readonly ipv6: Ipv6Columns;
}

/** `columns`: the arrays of a family differ in length. Other faults concern the prefix at the index. */
export type PrefixFault = "columns" | "length" | "host-bits" | "duplicate" | "order";

const sentences: Readonly<Record<PrefixFault, string>> = {
  columns: "addresses and lengths differ in number",
  length: "the length is beyond the family's",
  "host-bits": "bits past the length are set",
  duplicate: "the prefix equals the one before it",
  order: "the prefix is below the one before it",
};

/** Columns that are not a strictly ascending set of prefixes. */
export class PrefixOrderError extends Error {
  override readonly name = "PrefixOrderError";
  readonly family: 4 | 6;
  /** Position in the family's columns, from 0. */
  readonly index: number;
  readonly fault: PrefixFault;

  constructor(family: 4 | 6, index: number, fault: PrefixFault) {
    super(`IPv${family} prefix ${index}: ${sentences[fault]}`);
    this.family = family;
    this.index = index;
    this.fault = fault;
  }
}
