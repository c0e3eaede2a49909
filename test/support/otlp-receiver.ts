/** A collector of traces: takes OTLP over HTTP as JSON and gives the spans to the test. */

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Null: it is the first of its trace. */
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: "internal" | "server" | "client" | "producer" | "consumer";
  readonly service: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

export interface OtlpReceiver {
  readonly url: string;
  /** All spans so far, in order of arrival. */
  readonly spans: readonly Span[];
  /** The unchanged bodies of requests, so that a test can search them for data that must not be there. */
  readonly bodies: readonly Buffer[];
  /** Headers of the same requests. */
  readonly headers: readonly IncomingHttpHeaders[];
  /** Environment of a process that sends its spans here without delay. */
  readonly env: Readonly<Record<string, string>>;
  /** Answers with this status from now on. Spans are kept only with 200. */
  answerWith(status: number): void;
  /** The first span, past or future, for which `wanted` returns true. Rejects with all spans if none arrives in time. */
  waitFor(wanted: (span: Span) => boolean, timeoutMs?: number): Promise<Span>;
  /** All spans of the trace, as soon as `wanted` returns true for them. */
  waitForTrace(traceId: string, wanted: (spans: readonly Span[]) => boolean, timeoutMs?: number): Promise<readonly Span[]>;
  stop(): Promise<void>;
}

const waitMs = 60_000;
const kinds = ["internal", "internal", "server", "client", "producer", "consumer"] as const;

/** @param host  address at which it listens. */
export async function startOtlpReceiver(host = "127.0.0.1"): Promise<OtlpReceiver> {
  const spans: Span[] = [];
  const bodies: Buffer[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const lookers = new Set<() => void>();
  let status = 200;

  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    bodies.push(body);
    headers.push(request.headers);
    if (status === 200 && request.headers["content-type"]?.startsWith("application/json"))
      spans.push(...spansOf(JSON.parse(body.toString())));
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
    for (const look of lookers) look();
  });
  server.listen(0, host);
  await once(server, "listening");
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;

  const until = <T>(found: () => T | undefined, timeoutMs: number): Promise<T> =>
    new Promise((resolve, reject) => {
      const look = () => {
        const value = found();
        if (value === undefined) return;
        clearTimeout(timer);
        lookers.delete(look);
        resolve(value);
      };
      const timer = setTimeout(() => {
        lookers.delete(look);
        reject(new Error(`not within ${timeoutMs} ms; there were:\n${spans.map(lineOf).join("\n")}`));
      }, timeoutMs);
      lookers.add(look);
      look();
    });

  return {
    url,
    spans,
    bodies,
    headers,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", OTEL_BSP_SCHEDULE_DELAY: "50" },
    answerWith(next) {
      status = next;
    },
    waitFor: (wanted, timeoutMs = waitMs) => until(() => spans.find(wanted), timeoutMs),
    waitForTrace: (traceId, wanted, timeoutMs = waitMs) =>
      until(() => {
        const trace = spans.filter((span) => span.traceId === traceId);
        return wanted(trace) ? trace : undefined;
      }, timeoutMs),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
}

/** The used parts of `ExportTraceServiceRequest` as JSON. */
interface ExportRequest {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans?: readonly { readonly spans?: readonly WireSpan[] }[];
  }[];
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind?: number;
  readonly attributes?: readonly KeyValue[];
  readonly status?: { readonly code?: number };
}

interface KeyValue {
  readonly key: string;
  readonly value: WireValue;
}

interface WireValue {
  readonly stringValue?: string;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values?: readonly WireValue[] };
}

function spansOf({ resourceSpans = [] }: ExportRequest): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const service = String(attributesOf(resource?.attributes)["service.name"] ?? "");
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => spanOf(span, service)));
  });
}

function spanOf({ traceId, spanId, parentSpanId, name, kind = 0, attributes, status }: WireSpan, service: string): Span {
  return {
    traceId,
    spanId,
    parentSpanId: parentSpanId || null,
    name,
    kind: kinds[kind] ?? "internal",
    service,
    attributes: attributesOf(attributes),
    isError: status?.code === 2,
  };
}

function attributesOf(list: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, readValue(value)]));
}

function readValue({ stringValue, intValue, doubleValue, boolValue, arrayValue }: WireValue): unknown {
  if (intValue !== undefined) return Number(intValue);
  return stringValue ?? doubleValue ?? boolValue ?? arrayValue?.values?.map(readValue);
}

function lineOf({ service, kind, name, traceId, spanId, parentSpanId }: Span): string {
  return `${service} ${kind} ${name} (trace ${traceId}, span ${spanId}, parent ${parentSpanId ?? "none"})`;
}
