/** The limits of a session, and its actions for its owner. */

import type { VrpDelta } from "./vrp-table.ts";

export const rtrSessionDefaults = {
  /** Most VRPs of a cache: some seven times the number of today. */
  recordsMax: 5_000_000,
  /** A cache that owes an answer, or the rest of one, and sends nothing for this time is disconnected. */
  silenceMsMax: 30_000,
  /** Longest time from a query to its End of Data: a hundred times what 0.7 M VRPs take; ends a cache that sends too slowly. */
  answerMsMax: 300_000,
  /** Shortest time between two queries that answer notifies. */
  notifiedQueryMsMin: 1_000,
  /** A cache sends at most one notify a minute (RFC 8210 §5.2); if it sends more than this in a minute, it is disconnected. */
  notifiesMax: 100,
} as const;

export type RtrSessionSettings = { readonly [K in keyof typeof rtrSessionDefaults]: number };

/** The reason why a connection must end, or why the cache cannot answer. */
export interface RtrFailure {
  /** Code of the Error Report that was sent or received; null: there was none. */
  readonly code: number | null;
  readonly reportedBy: "cache" | "us" | null;
  readonly message: string;
}

/** What the owner of the session must do or know, in this order. */
export type RtrAction =
  | { readonly kind: "send"; readonly bytes: Uint8Array }
  /** Close the connection. `again`: reconnect at once with another version; otherwise after the usual wait. */
  | { readonly kind: "close"; readonly failure: RtrFailure; readonly again: boolean }
  /** End of Data: from here on `table` has the new data. `all`: the cache sent all of them. */
  | ({ readonly kind: "updated"; readonly all: boolean } & VrpDelta)
  /** The data of the cache must no longer be used. */
  | { readonly kind: "discarded"; readonly reason: string }
  /** The cache has no data yet (code 2); the connection stays open, and it is asked again after the Retry Interval. */
  | { readonly kind: "no-data"; readonly failure: RtrFailure }
  /** A message for the operator. */
  | { readonly kind: "note"; readonly message: string };
