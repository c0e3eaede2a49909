/** Structured logs: one JSON object per line, without secrets. */

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
  /** Minimum level that is written. Default: `info`. */
  readonly level?: LogLevel;
  /** Destination: a file descriptor, a path, or any writable object. Default: standard error, as standard output is for people. */
  readonly to?: number | string | DestinationStream;
}

/** The beginning of a logger's lines, and their destination: for lines that pino does not write. */
interface LineTarget {
  readonly service: string;
  readonly to: DestinationStream;
  readonly traced: boolean;
}
const targets = new WeakMap<object, LineTarget>();

/**
 * A pino logger with the name of the service in each line, and `trace_id` and `span_id` within a span if telemetry was on when it was created.
 * `authorization` and similar fields, and everything that looks like a key, are removed.
 */
export function createLogger({ service, level = "info", to = 2 }: LoggerOptions): Logger {
  const onDropped = (lines: number): void => log.warn({ lines }, "log lines were dropped, because the log was not read");
  const target = { service, to: typeof to === "object" ? to : openDestination(to, onDropped), traced: isTracing() };
  const log: Logger = pino(
    {
      level,
      base: { service },
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: lineWithoutSecrets },
      ...(target.traced && { mixin: traceIds }),
    },
    target.to,
  );
  targets.set(log, target);
  return log;
}

/**
 * Writes the same bytes as `log.info(fields, message)`, for a line so frequent that its caller builds the text of the fields. Costs a third of
 * pino's.
 *
 * @param log  from `createLogger`; for any other, null is returned.
 * @returns a function that takes the fields as members of a JSON object, each with a comma before it.
 */
export function infoLines(log: object, message: string): ((members: string) => void) | null {
  const target = targets.get(log);
  if (target === undefined) return null;
  const logger = log as Logger;
  const { to, traced } = target;
  const service = `,"service":${JSON.stringify(target.service)}`;
  const end = `,"msg":${JSON.stringify(message)}}\n`;
  return (members) => {
    if (!logger.isLevelEnabled("info")) return;
    const trace = traced ? membersOf(traceIds()) : "";
    to.write(lineWithoutSecrets(`{"level":"info"${isoTime()}${service}${trace}${members}${end}`));
  };
}

function membersOf(fields: object): string {
  const text = JSON.stringify(fields).slice(1, -1);
  return text === "" ? "" : `,${text}`;
}

/** The ids of the active trace; empty if there is none. */
function traceIds(): object {
  const active = trace.getActiveSpan()?.spanContext();
  return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
}

/** Cached time in pino's form: lines come in bursts, so one text is used for all lines of a millisecond. */
let last = { ms: 0, text: "" };

function isoTime(): string {
  const ms = Date.now();
  if (ms !== last.ms) last = { ms, text: `,"time":"${new Date(ms).toISOString()}"` };
  return last.text;
}
