/** Messages between a process and its thread of the past. */

import type { ReplyItem, RequestItem } from "@netfacts/messaging";
import type { LoadedSnapshot, PastOptions, StoreSource } from "@netfacts/snapshot";

/** Data with which the thread is started. */
export interface PastThreadData {
  readonly source: StoreSource;
  readonly options: PastOptions;
}

/** The part of a question that the thread needs. */
export type AskedItem = Pick<RequestItem, "op" | "query" | "requestId" | "budgetMs">;

/** A snapshot that the process holds for the present; its memory is shared. The process gives each a unique key. */
export interface SharedSnapshot {
  readonly key: number;
  readonly loaded: LoadedSnapshot;
}

/** The snapshots that the process holds now: all keys, and the snapshots that the thread does not know yet. */
export interface PresentChange {
  readonly keys: readonly number[];
  readonly added: readonly SharedSnapshot[];
}

export type ToPastThread =
  | { readonly kind: "ask"; readonly id: number; readonly item: AskedItem; readonly nowMs: number }
  | ({ readonly kind: "present" } & PresentChange)
  | { readonly kind: "ping" };

export type FromPastThread =
  /** `body` has memory of its own. */
  | { readonly kind: "answer"; readonly id: number; readonly reply: ReplyItem }
  | { readonly kind: "failed"; readonly id: number; readonly cause: unknown }
  | { readonly kind: "loaded"; readonly snapshot: string; readonly loadMs: number }
  | { readonly kind: "not_loaded"; readonly snapshot: string; readonly cause: Error }
  /** The store could not be opened: the thread ends. */
  | { readonly kind: "not_opened"; readonly cause: Error }
  /** The reply to a ping. */
  | { readonly kind: "pong"; readonly bytes: number; readonly kept: number };
