/** Spans for the items of messaging, with OpenTelemetry. */

import type { RequestItem, SpanEnd, Tracing } from "@netfacts/messaging";
import {
  type Attributes,
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { isTracing } from "./tracing-state.ts";

/** Our own frames carry version 00 only. */
const traceparentText = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The tracing for messaging; null if telemetry is off, so that it costs nothing. */
export function createMessageTracing(): Tracing | null {
  if (!isTracing()) return null;
  const tracer = trace.getTracer("@netfacts/messaging");
  return {
    startClient(service, lane, item) {
      if (trace.getActiveSpan()?.isRecording() !== true) return null;
      const attributes = { ...itemAttributes(service, item), "netfacts.lane": lane };
      const span = tracer.startSpan(`${service}/${item.op}`, { kind: SpanKind.CLIENT, attributes });
      return { traceparent: traceparentOf(span), end: (end) => endSpan(span, end) };
    },
    startServer(service, item) {
      const asker = sampledParent(item.traceparent);
      if (asker === null) return null;
      const above = trace.setSpanContext(ROOT_CONTEXT, asker);
      const span = tracer.startSpan(`${service}/${item.op}`, { kind: SpanKind.SERVER, attributes: itemAttributes(service, item) }, above);
      const within = trace.setSpan(above, span);
      return { run: (work) => context.with(within, work), end: (end) => endSpan(span, end) };
    },
  };
}

/** Names of the semantic conventions for remote calls. */
function itemAttributes(service: string, { op, requestId }: Pick<RequestItem, "op" | "requestId">): Attributes {
  return { "rpc.system": "netfacts", "rpc.service": service, "rpc.method": op, "netfacts.request_id": requestId };
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}

function sampledParent(traceparent: string | null): SpanContext | null {
  const [, traceId = "", spanId = "", flags = ""] = traceparentText.exec(traceparent ?? "") ?? [];
  if ((Number.parseInt(flags, 16) & TraceFlags.SAMPLED) === 0) return null;
  const parent = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(parent) ? parent : null;
}

function endSpan(span: Span, end: SpanEnd): void {
  if (typeof end === "number") span.setAttribute("http.response.status_code", end);
  if (typeof end !== "number" || end >= 500) {
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute("error.type", String(end));
  }
  span.end();
}
