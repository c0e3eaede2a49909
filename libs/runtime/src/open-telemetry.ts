/** OpenTelemetry itself: exporter, resource, instrumentations. Loaded only if tracing is on, as it takes 0.3 s and 30 MB. */

import { FastifyOtelInstrumentation } from "@fastify/otel";
import { context, ROOT_CONTEXT } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { MongoDBInstrumentation } from "@opentelemetry/instrumentation-mongodb";
import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";
import { envDetector, serviceInstanceIdDetector } from "@opentelemetry/resources";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { cleanSpan } from "./span-cleaning.ts";
import { readProtocol } from "./telemetry-settings.ts";

type Exporter = JsonExporter | ProtobufExporter;

/** Paths of the telemetry port, which are requested all the time. */
const operationsPaths = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * @param service  its name, unless the standard variables, which `readTelemetrySettings` has checked, give another.
 * @param onExport  called after each export with the reason of a failure, or null.
 */
export function startSdk(service: string, onExport: (fault: string | null) => void): { shutdown(): Promise<void> } {
  const { env } = process;
  const isNamed = Boolean(env.OTEL_SERVICE_NAME) || /(^|,)\s*service\.name\s*=/.test(env.OTEL_RESOURCE_ATTRIBUTES ?? "");
  const sdk = new NodeSDK({
    ...(!isNamed && { serviceName: service }),
    // Without process and host, whose arguments and machine id must not be published.
    ...(!env.OTEL_NODE_RESOURCE_DETECTORS && { resourceDetectors: [envDetector, serviceInstanceIdDetector] }),
    // Without baggage: it would pass on the callers' content to servers behind us.
    ...(!env.OTEL_PROPAGATORS?.trim() && { textMapPropagator: new W3CTraceContextPropagator() }),
    traceExporter: watched(readProtocol(env) === "http/json" ? new JsonExporter() : new ProtobufExporter(), onExport),
    // Prometheus reads metrics, and logs go to standard error.
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [
      new HttpInstrumentation({
        ignoreIncomingRequestHook: ({ url = "" }) => operationsPaths.has(url.split("?", 1)[0] as string),
      }),
      new UndiciInstrumentation(),
      new MongoDBInstrumentation(),
      // One span per request, which gives the HTTP span its route: spans for hooks would add nothing.
      new FastifyOtelInstrumentation({ registerOnInitialization: true, instrumentHooks: false, instrumentHandler: false }),
    ],
  });
  sdk.start();
  return sdk;
}

/** All spans pass through here: secrets are removed, and failures reported, as the SDK does not report them. */
function watched(exporter: Exporter, onExport: (fault: string | null) => void): Exporter {
  const send = exporter.export.bind(exporter);
  exporter.export = (spans, done) => {
    for (const span of spans) cleanSpan(span);
    send(spans, (result) => {
      // The export runs in the context of the request that ended last, but its result does not belong to that request.
      context.with(ROOT_CONTEXT, onExport, undefined, result.code === 0 ? null : (result.error?.message ?? "no reason given"));
      done(result);
    });
  };
  return exporter;
}
