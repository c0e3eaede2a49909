/** What a session is bounded by, and what it tells its owner. */

import type { VrpDelta } from "./vrp-table.ts";

export const rtrSessionDefaults = {
  /** VRPs that a cache may have: some seven times those of today. */
  recordsMax: 5_000_000,
  /** A cache that owes an answer, or the rest of one, and sends nothing for so long is given up. */
  silenceMsMax: 30_000,
  /** From a query to its End of Data: a hundred times what 0.7 M VRPs take, and an end for one that drips. */
  answerMsMax: 300_000,
  /** Notifies are answered by queries no closer to each other than this. */
  notifiedQueryMsMin: 1_000,
  /** A cache sends at most one notify a minute (RFC 8210 §5.2); one that sends more than this in a minute is cut off. */
  notifiesMax: 100,
} as const;

export type RtrSessionSettings = { readonly [K in keyof typeof rtrSessionDefaults]: number };

/** Why a connection is to be ended, or what the cache cannot do. */
export interface RtrFailure {
  /** Of the Error Report that was sent or received; null where there was none. */
  readonly code: number | null;
  readonly reportedBy: "cache" | "us" | null;
  readonly message: string;
}

/** What the owner of the session is to do or to know, in this order. */
export type RtrAction =
  | { readonly kind: "send"; readonly bytes: Uint8Array }
  /** End the connection. `again`: with another version at once, otherwise after the usual wait. */
  | { readonly kind: "close"; readonly failure: RtrFailure; readonly again: boolean }
  /** End of Data: from here on `table` is this. `all`: it was sent as a whole. */
  | ({ readonly kind: "updated"; readonly all: boolean } & VrpDelta)
  /** What the cache had told is no longer to be used. */
  | { readonly kind: "discarded"; readonly reason: string }
  /** The cache has no data yet (code 2); the connection stays, and it is asked again after the Retry Interval. */
  | { readonly kind: "no-data"; readonly failure: RtrFailure }
  /** For the operator. */
  | { readonly kind: "note"; readonly message: string };
