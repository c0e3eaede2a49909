/** What the thread that compares two snapshots is asked, and what it answers. */

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

/** `text` is JSON. */
export type CompareReply = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string };
