/** What every transport takes. */

import type { MessagingErrorCode } from "./messaging-error.ts";
import type { Tracing } from "./tracing.ts";
import type { Lane } from "./types.ts";

export interface MessagingOptions {
  readonly queuedItemsMax?: number;
  /** Told of what no caller can be told: a listener that threw, a handler that failed. */
  readonly onError?: (what: string, cause: unknown) => void;
  readonly events?: MessagingEvents;
  /** null: no spans. */
  readonly tracing?: Tracing | null;
}

/**
 * - `no_answer`: half the budget is over · `no_responders`, `not_yet`, `broken`: a body broke midway, or no reply to the frame could be read
 * - `silent`: the copy that was asked shows no sign of life · `slow`: it takes far longer than usual
 */
export type RetryReason = "no_answer" | "silent" | "slow" | "no_responders" | "not_yet" | "broken";

/** - `late`: its item is answered or given up · `unknown`: never asked by us · `undecodable`: not a frame, or not of the pinned snapshot */
export type DropReason = "late" | "unknown" | "undecodable";

/** What is counted, for metrics. None may throw. */
export interface MessagingEvents {
  /** `bytes` is 0 in process. */
  frameSent?(service: string, lane: Lane, items: number, bytes: number): void;
  /** A frame has come in to be answered. */
  frameServed?(service: string, lane: Lane, items: number): void;
  /** A frame to be answered could not be read, and was failed as a whole. */
  frameRefused?(service: string, lane: Lane): void;
  /** Frames that wait for answers of a service now. Not told in process. */
  framesInFlight?(service: string, lane: Lane, frames: number): void;
  /** Broadcasts on this subject are received from now on. */
  broadcastsAwaited?(subject: string): void;
  /** A broadcast could not be read. */
  broadcastRefused?(subject: string): void;
  itemsRetried?(service: string, lane: Lane, reason: RetryReason, items: number): void;
  /** Replies that nobody waited for. */
  repliesDropped?(reason: DropReason, items: number): void;
  /** A request ended without reply. */
  requestFailed?(service: string, lane: Lane, code: MessagingErrorCode): void;
  connection?(up: boolean): void;
  /** The broker has no such right for this user; told once a minute for a subject at most. The text names the subject. */
  notPermitted?(text: string): void;
}
