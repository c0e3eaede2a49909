/** Spans of questions and answers that travel over messaging: the transports begin and end them, `@netfacts/runtime` records them. */

import type { MessagingErrorCode } from "./messaging-error.ts";
import type { Lane, RequestItem } from "./types.ts";

/** What became of an item: the HTTP status of its reply, or why there is none. */
export type SpanEnd = number | MessagingErrorCode;

export interface ClientSpan {
  /** W3C traceparent of this span, 55 characters: what travels with the item. */
  readonly traceparent: string;
  /** Call once. */
  end(end: SpanEnd): void;
}

export interface ServerSpan {
  /** Runs the answering within the span: logs and spans of what it calls, also asynchronously, belong to it. */
  run<T>(work: () => T): T;
  /** Call once. */
  end(end: SpanEnd): void;
}

/** Null: the request is not sampled, and nothing is to be done for it. Neither function throws. */
export interface Tracing {
  /** Begins the span of a question, below the one that is active at the call. */
  startClient(service: string, lane: Lane, item: Pick<RequestItem, "op" | "requestId">): ClientSpan | null;
  /** Begins the span of an answer, below that of its question. */
  startServer(service: string, item: Pick<RequestItem, "op" | "requestId" | "traceparent">): ServerSpan | null;
}
