/** Structured logs: one JSON object a line, without secrets. */

import { trace } from "@opentelemetry/api";
import { type DestinationStream, type Logger, pino } from "pino";
import { openDestination } from "./log-destination.ts";
import { lineWithoutSecrets } from "./secrets.ts";
import { isTracing } from "./tracing-state.ts";

export type { Logger };

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LoggerOptions {
  readonly service: string;
  /** Least severe level that is written. Default: `info`. */
  readonly level?: LogLevel;
  /** Where lines go: a file descriptor, a path, or anything that can be written to. Default: standard error, as standard output is for people. */
  readonly to?: number | string | DestinationStream;
}

/**
 * A pino logger with the service's name in each line, and `trace_id` and `span_id` within a span when telemetry was on as it was created.
 * `authorization` and the like, and whatever looks like a key, are taken out.
 */
export function createLogger({ service, level = "info", to = 2 }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: lineWithoutSecrets },
      ...(isTracing() && { mixin: traceIds }),
    },
    typeof to === "object" ? to : openDestination(to),
  );
}

/** Which trace a line belongs to; nothing outside of one. */
function traceIds(): object {
  const active = trace.getActiveSpan()?.spanContext();
  return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
}

/** Time of the last line as pino wants it: lines come in bursts, and a text is made once for all of a millisecond. */
let last = { ms: 0, text: "" };

function isoTime(): string {
  const ms = Date.now();
  if (ms !== last.ms) last = { ms, text: `,"time":"${new Date(ms).toISOString()}"` };
  return last.text;
}
