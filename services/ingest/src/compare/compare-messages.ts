/** What the thread that compares two snapshots and the process that started it tell each other. */

import type { SectionName, StoreSource } from "@netfacts/snapshot";

export interface CompareRequest {
  readonly source: StoreSource;
  /** Ids of snapshots. */
  readonly from: string;
  readonly to: string;
  readonly section: SectionName;
  /** How many changes are told; all are counted. */
  readonly limit: number;
}

export type FromCompare =
  /** Whole lines. The thread waits until more is wanted. */
  { readonly kind: "lines"; readonly text: string } | { readonly kind: "end" } | { readonly kind: "failed"; readonly message: string };

/** The only message to the thread: more is wanted. */
export type ToCompare = "more";
