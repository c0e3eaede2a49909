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
import { ConfigError } from "./config.ts";
import { readSecretSetting } from "./secret-setting.ts";
import { withoutSecrets } from "./secrets.ts";
import { cleanSpan } from "./span-cleaning.ts";

type Exporter = JsonExporter | ProtobufExporter;

/** Standard variables that hold the collector's credentials: each may be in a file, like our own secrets. */
const secretVariables = ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"] as const;

const endpointVariables = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"] as const;

/** Paths of the telemetry port, which are requested all the time. */
const operationsPaths = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * @param onExport  called after each export with the reason of a failure, or null.
 * @throws ConfigError
 */
export function startSdk(service: string, onExport: (fault: string | null) => void): { shutdown(): Promise<void> } {
  const { env } = process;
  checkEndpoint(env);
  checkNames(env);
  // The exporter reads the environment itself.
  for (const name of secretVariables) {
    const text = readSecretSetting(name, env);
    if (text !== "") env[name] = text;
  }
  const isNamed = Boolean(env.OTEL_SERVICE_NAME) || /(^|,)\s*service\.name\s*=/.test(env.OTEL_RESOURCE_ATTRIBUTES ?? "");
  const sdk = new NodeSDK({
    ...(!isNamed && { serviceName: service }),
    // Without process and host, whose arguments and machine id must not be published.
    ...(!env.OTEL_NODE_RESOURCE_DETECTORS && { resourceDetectors: [envDetector, serviceInstanceIdDetector] }),
    // Without baggage: it would pass on the callers' content to servers behind us.
    ...(!env.OTEL_PROPAGATORS?.trim() && { textMapPropagator: new W3CTraceContextPropagator() }),
    traceExporter: watched(createExporter(env), onExport),
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

/** The exporter ignores a URL that it cannot read, and sends to port 4318 of this machine. Only the first variable that is set is used. */
function checkEndpoint(env: NodeJS.ProcessEnv): void {
  const name = endpointVariables.find((each) => env[each]);
  if (name === undefined) return;
  const text = env[name] as string;
  if (/^\s*https?:\/\//i.test(text) && URL.canParse(text)) return;
  throw new ConfigError([`${name} must be an http or https URL, not ${JSON.stringify(withoutSecrets(text))}`]);
}

const samplers = ["always_on", "always_off", "traceidratio"].flatMap((name) => [name, `parentbased_${name}`]);
const propagators = ["tracecontext", "baggage", "b3", "b3multi", "none"];

/** The SDK silently replaces an unknown sampler or ratio by "all traces", and ignores an unknown propagator. */
function checkNames(env: NodeJS.ProcessEnv): void {
  const oneOf = (names: readonly string[]) => `one of ${names.join(", ")}`;
  const isRatio = (text: string) => Number(text) >= 0 && Number(text) <= 1;
  const rules: readonly (readonly [name: string, isGood: (text: string) => boolean, expected: string])[] = [
    ["OTEL_TRACES_SAMPLER", (text) => samplers.includes(text), oneOf(samplers)],
    ["OTEL_TRACES_SAMPLER_ARG", (text) => env.OTEL_TRACES_SAMPLER?.endsWith("traceidratio") !== true || isRatio(text), "from 0 to 1"],
    [
      "OTEL_PROPAGATORS",
      (text) => text.split(",").every((each) => ["", ...propagators].includes(each.trim())),
      `a list of ${propagators.join(", ")}`,
    ],
  ];
  const faults = rules.flatMap(([name, isGood, expected]) => {
    const text = env[name] ?? "";
    return text.trim() === "" || isGood(text) ? [] : [`${name} must be ${expected}, not ${JSON.stringify(text)}`];
  });
  if (faults.length > 0) throw new ConfigError(faults);
}

function createExporter(env: NodeJS.ProcessEnv): Exporter {
  const name = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ? "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL" : "OTEL_EXPORTER_OTLP_PROTOCOL";
  const protocol = env[name]?.trim() || "http/protobuf";
  if (protocol === "http/protobuf") return new ProtobufExporter();
  if (protocol === "http/json") return new JsonExporter();
  throw new ConfigError([`${name} must be one of http/protobuf, http/json, not ${JSON.stringify(protocol)}`]);
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
