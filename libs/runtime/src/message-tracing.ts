/** Spans of messaging's items, by OpenTelemetry, and the same ids for logs. */

import type { ItemSpan, RequestItem, Tracing } from "@netfacts/messaging";
import {
  type Attributes,
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

/** Version 00 is all that our own frames carry. */
const traceparentText = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** What messaging is given; undefined where telemetry is off: then it costs nothing. */
export function createMessageTracing(): Tracing | undefined {
  if (!isTracing()) return undefined;
  const tracer = trace.getTracer("@netfacts/messaging");
  return {
    clientSpan(service, lane, item) {
      if (trace.getActiveSpan()?.isRecording() !== true) return null;
      const attributes = { ...itemAttributes(service, item), "netfacts.lane": lane };
      return itemSpan(tracer.startSpan(`${service}/${item.op}`, { kind: SpanKind.CLIENT, attributes }));
    },
    serverSpan(service, item) {
      const asker = readTraceparent(item.traceparent);
      if (asker === null || (asker.traceFlags & TraceFlags.SAMPLED) === 0) return null;
      const attributes = itemAttributes(service, item);
      const above = trace.setSpanContext(ROOT_CONTEXT, asker);
      return itemSpan(tracer.startSpan(`${service}/${item.op}`, { kind: SpanKind.SERVER, attributes }, above));
    },
  };
}

/** Fields of the log lines about one item: an item is answered beside others, so that no span is active then. */
export function itemLogFields({
  requestId,
  traceparent,
}: Pick<RequestItem, "requestId" | "traceparent">): Readonly<Record<string, string>> {
  const span = readTraceparent(traceparent);
  return { request_id: requestId, ...(span !== null && { trace_id: span.traceId, span_id: span.spanId }) };
}

/** Names of the semantic conventions for remote calls. */
function itemAttributes(service: string, { op, requestId }: Pick<RequestItem, "op" | "requestId">): Attributes {
  return { "rpc.system": "netfacts", "rpc.service": service, "rpc.method": op, "netfacts.request_id": requestId };
}

function readTraceparent(traceparent: string | null): SpanContext | null {
  const [, traceId = "", spanId = "", flags = ""] = traceparentText.exec(traceparent ?? "") ?? [];
  const span = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(span) ? span : null;
}

function itemSpan(span: Span): ItemSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`,
    end(outcome) {
      if (typeof outcome === "number") span.setAttribute("http.response.status_code", outcome);
      if (typeof outcome !== "number" || outcome >= 500) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute("error.type", String(outcome));
      }
      span.end();
    },
  };
}
