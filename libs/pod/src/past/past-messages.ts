/** What a process and its thread of the past tell each other. */

import type { ReplyItem, RequestItem } from "@netfacts/messaging";
import type { LoadedSnapshot, PastOptions, StoreSource } from "@netfacts/snapshot";

/** What the thread is started with. */
export interface PastThreadData {
  readonly source: StoreSource;
  readonly options: PastOptions;
}

/** What the thread needs of a question. */
export type AskedItem = Pick<RequestItem, "op" | "query" | "requestId" | "budgetMs">;

/** A snapshot that the process holds for today; its memory is shared. The process gives each a key of its own. */
export interface SharedSnapshot {
  readonly key: number;
  readonly loaded: LoadedSnapshot;
}

/** What the process holds now: the keys of all, and those that the thread does not know yet. */
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
