/** Structured logs: one JSON object a line, without secrets. */

import { type DestinationStream, destination, type Logger, pino, stdTimeFunctions } from "pino";

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

/** API keys in any field or message. The id stays, as it is no secret and tells which key it was. */
const keyText = /\bnf_(live|test)_([0-9A-HJKMNP-TV-Z]{8})_[0-9A-Za-z]+/g;
const bearerText = /\b(Bearer|Basic)(\s+)(?!nf_)[\w.~+/=-]{8,}/gi;

/** Credentials by the name of their field, whatever they look like. */
const secretFields = ["authorization", "cookie", "secret", "password", "pepper", "token"];

/** A pino logger with the service's name in each line; `authorization` and the like, and whatever looks like a key, are taken out. */
export function createLogger({ service, level = "info", to = 2 }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretFields.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[redacted]" },
      hooks: { streamWrite: withoutKeys },
    },
    typeof to === "object" ? to : openDestination(to),
  );
}

function withoutKeys(line: string): string {
  return line.replace(keyText, "nf_$1_$2_[redacted]").replace(bearerText, "$1$2[redacted]");
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
