/** Messaging with spans: a client and a server span per sampled item, the same over every transport. */

import { MessagingError } from "./messaging-error.ts";
import type { ServerSpan, SpanEnd, Tracing } from "./tracing.ts";
import type { Answer, Frame, FrameHandler, Messaging } from "./types.ts";

/** The same messaging; requests that are not sampled pass through. */
export function traced(messaging: Messaging, tracing: Tracing): Messaging {
  return {
    request(service, lane, item, pinnedSnapshot) {
      const span = tracing.startClient(service, lane, item);
      if (span === null) return messaging.request(service, lane, item, pinnedSnapshot);
      const asked = messaging.request(service, lane, { ...item, traceparent: span.traceparent }, pinnedSnapshot);
      asked.then(
        ({ status }) => span.end(status),
        (error: unknown) => span.end(error instanceof MessagingError ? error.code : "handler_failed"),
      );
      return asked;
    },
    serve: (service, handler) => messaging.serve(service, tracedHandler(service, handler, tracing)),
    publish: (subject, payload) => messaging.publish(subject, payload),
    subscribe: (subject, listener) => messaging.subscribe(subject, listener),
    watchConnection: (listener) => messaging.watchConnection(listener),
    probe: (msMax) => messaging.probe(msMax),
    close: () => messaging.close(),
  };
}

function tracedHandler(service: string, handler: FrameHandler, tracing: Tracing): FrameHandler {
  return (frame, answer) => {
    const spans = frame.items.map((item) => (item.traceparent === null ? null : tracing.startServer(service, item)));
    return spans.some((span) => span !== null) ? withSpans(spans, handler, frame, answer) : handler(frame, answer);
  };
}

async function withSpans(spans: readonly (ServerSpan | null)[], handler: FrameHandler, frame: Frame, answer: Answer): Promise<void> {
  const open = new Map(spans.entries());
  const end = (index: number, what: SpanEnd) => {
    open.get(index)?.end(what);
    open.delete(index);
  };
  const within = <T>(index: number, work: () => T): T => {
    const span = spans[index] ?? null;
    return span === null ? work() : span.run(work);
  };
  try {
    await handler({ ...frame, within }, (index, reply) => {
      end(index, reply === "not_yet" ? 503 : reply.status);
      answer(index, reply);
    });
  } finally {
    for (const index of open.keys()) end(index, "handler_failed");
  }
}
