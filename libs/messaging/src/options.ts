/** Options of every transport. */

import type { MessagingErrorCode } from "./messaging-error.ts";
import type { Tracing } from "./tracing.ts";
import type { Lane } from "./types.ts";

export interface MessagingOptions {
  readonly queuedItemsMax?: number;
  /** Called for failures that no caller learns of: a listener that threw, a handler that failed. */
  readonly onError?: (what: string, cause: unknown) => void;
  readonly events?: MessagingEvents;
  /** null: no spans. */
  readonly tracing?: Tracing | null;
}

/**
 * - `no_answer`: half the budget is used · `no_responders`, `not_yet`, `broken`: a body broke off, or no reply to the frame could be read
 * - `silent`: the copy that was asked shows no sign of life · `slow`: it takes far longer than usual
 */
export type RetryReason = "no_answer" | "silent" | "slow" | "no_responders" | "not_yet" | "broken";

/**
 * - `late`: its item is answered or cancelled · `unknown`: this process never asked it · `undecodable`: not a frame, or not of the pinned snapshot
 */
export type DropReason = "late" | "unknown" | "undecodable";

/** Events for metrics. They must not throw. */
export interface MessagingEvents {
  /** `bytes` is 0 for in-process messaging. */
  frameSent?(service: string, lane: Lane, items: number, bytes: number): void;
  /** A frame was received, to be answered. */
  frameServed?(service: string, lane: Lane, items: number): void;
  /** A frame to be answered could not be read: it failed as a whole. */
  frameRefused?(service: string, lane: Lane): void;
  /** Number of frames that wait for answers of a service now. Not called for in-process messaging. */
  framesInFlight?(service: string, lane: Lane, frames: number): void;
  /** Broadcasts on this subject will be received from now on. */
  broadcastsAwaited?(subject: string): void;
  /** A broadcast could not be read. */
  broadcastRefused?(subject: string): void;
  itemsRetried?(service: string, lane: Lane, reason: RetryReason, items: number): void;
  /** Replies that nobody was waiting for. */
  repliesDropped?(reason: DropReason, items: number): void;
  /** A request ended without a reply. */
  requestFailed?(service: string, lane: Lane, code: MessagingErrorCode): void;
  connection?(up: boolean): void;
  /** The broker does not grant this right to the user. Called at most once a minute for a subject, which the text names. */
  notPermitted?(text: string): void;
}
