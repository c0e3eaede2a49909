/** The first step of a process: starts tracing with OpenTelemetry if the standard variables ask for it; otherwise loads nothing of it. */

import { setTimeout as sleep } from "node:timers/promises";
import { setTracing } from "./tracing-state.ts";

export { runMain } from "./main.ts";

/** Time that a stop waits for a collector; spans that are not sent by then are lost. */
const flushMs = 1_500;

export interface Telemetry {
  /** Whether spans are recorded. */
  readonly on: boolean;
  /** Calls the listener with the reason when spans cannot be sent, and with null when they can be sent again; a known reason is reported at once. */
  onExport(listener: (fault: string | null) => void): void;
  /** Sends the remaining spans, for at most 1.5 s. Never rejects; may be called again. */
  stop(): Promise<void>;
}

const off: Telemetry = { on: false, onExport() {}, async stop() {} };

/**
 * Starts OpenTelemetry if `OTEL_EXPORTER_OTLP_ENDPOINT` (or its form for traces) is set, unless `OTEL_SDK_DISABLED` or `OTEL_TRACES_EXPORTER=none`
 * turns it off. The standard variables for sampling, headers, protocol (`http/protobuf`, `http/json`) and others apply. Only modules that are
 * imported afterwards are instrumented.
 *
 * @param service  its name in spans, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` gives another.
 * @throws ConfigError for another protocol, or an endpoint that is not an http or https URL.
 */
export async function startTelemetry({ service }: { readonly service: string }): Promise<Telemetry> {
  if (!isWanted(process.env)) return off;
  const { readTelemetrySettings } = await import("./telemetry-settings.ts");
  readTelemetrySettings(process.env);
  const { startSdk } = await import("./open-telemetry.ts");
  let known: string | null = null;
  let listener: (fault: string | null) => void = () => {};
  const sdk = startSdk(service, (fault) => {
    // The first successful export is not reported.
    if ((fault === null) === (known === null)) return;
    known = fault;
    listener(fault);
  });
  setTracing(true);
  let stopped: Promise<void> | undefined;
  return {
    on: true,
    onExport(next) {
      listener = next;
      if (known !== null) next(known);
    },
    stop() {
      stopped ??= Promise.race([sdk.shutdown().catch(() => {}), sleep(flushMs, undefined, { ref: false })]);
      return stopped;
    },
  };
}

function isWanted(env: NodeJS.ProcessEnv): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === "true" || env.OTEL_TRACES_EXPORTER === "none") return false;
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
}
