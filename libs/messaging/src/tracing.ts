/** Spans of questions and answers over messaging: the transports begin and end them, `@netfacts/runtime` records them. */

import type { MessagingErrorCode } from "./messaging-error.ts";
import type { Lane, RequestItem } from "./types.ts";

/** The result of an item: the HTTP status of its reply, or the reason why there is none. */
export type SpanEnd = number | MessagingErrorCode;

export interface ClientSpan {
  /** W3C traceparent of this span, 55 characters; it is sent with the item. */
  readonly traceparent: string;
  /** Call once. */
  end(end: SpanEnd): void;
}

export interface ServerSpan {
  /** Runs the work within the span: logs and spans of all that it calls, also asynchronously, belong to it. */
  run<T>(work: () => T): T;
  /** Call once. */
  end(end: SpanEnd): void;
}

/** Null: the request is not sampled, and needs no span. Neither function throws. */
export interface Tracing {
  /** Begins the span of a question, as a child of the one that is active at the call. */
  startClient(service: string, lane: Lane, item: Pick<RequestItem, "op" | "requestId">): ClientSpan | null;
  /** Begins the span of an answer, as a child of that of its question. */
  startServer(service: string, item: Pick<RequestItem, "op" | "requestId" | "traceparent">): ServerSpan | null;
}
