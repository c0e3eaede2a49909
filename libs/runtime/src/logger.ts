/** Structured logs: one JSON object a line, without secrets. */

import { trace } from "@opentelemetry/api";
import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from "pino";
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
      timestamp: stdTimeFunctions.isoTime,
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

/** Lines that a full disk refuses wait for space up to this; what comes then is dropped. */
const waitingBytesMax = 1 << 20;

/** Written at once, so that no line is lost when the process ends. */
function openDestination(dest: number | string): DestinationStream {
  const stream = destination({ dest, sync: true, mkdir: true, maxLength: waitingBytesMax });
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    // A closed terminal (EIO) or reader (EPIPE) ends the log, not the service. Anything else is tried again with the next line.
    if (code === "EIO" || code === "EPIPE" || code === "EBADF") stream.write = () => true;
  });
  return stream;
}
