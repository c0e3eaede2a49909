/** The first thing that a process does: tracing by OpenTelemetry, where the standard variables ask for it; else nothing of it is loaded. */

import { setTimeout as sleep } from "node:timers/promises";
import { setTracing } from "./tracing-state.ts";

export { runMain } from "./main.ts";

/** How long a stop waits for a collector; what is not sent by then is lost. */
const flushMs = 1_500;

export interface Telemetry {
  /** Whether spans are recorded. */
  readonly on: boolean;
  /** Told why spans cannot be sent, and null once they can be again; each time that it changes, and what is known already at once. */
  onExport(listener: (fault: string | null) => void): void;
  /** Sends what is left, for at most 1.5 s. Never rejects; may be called again. */
  stop(): Promise<void>;
}

const off: Telemetry = { on: false, onExport() {}, async stop() {} };

/**
 * Starts OpenTelemetry when `OTEL_EXPORTER_OTLP_ENDPOINT` (or its form for traces) is set and `OTEL_SDK_DISABLED` or
 * `OTEL_TRACES_EXPORTER=none` does not say otherwise. Sampling, headers, protocol (`http/protobuf`, `http/json`) and the other
 * standard variables hold. What is instrumented is what is imported afterwards.
 *
 * @param service  its name in spans, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` gives another.
 * @throws ConfigError where the protocol is another one, or the endpoint is no http or https URL.
 */
export async function startTelemetry({ service }: { readonly service: string }): Promise<Telemetry> {
  if (!isWanted(process.env)) return off;
  const { startSdk } = await import("./open-telemetry.ts");
  let known: string | null = null;
  let listener: (fault: string | null) => void = () => {};
  const sdk = startSdk(service, (fault) => {
    // The first sending that succeeds is no news.
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
