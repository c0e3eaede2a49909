/** An error for the caller. It is thrown anywhere in a service, and turned into problem+json (RFC 9457) in one place. */

import { errors, type ProblemCode } from "./errors.ts";
import type { Problem, ProblemItem, TimeRange } from "./records/problem.ts";

export interface ProblemFields {
  /** Public text. Default: that of the error table. */
  readonly detail?: string;
  readonly errors?: readonly ProblemItem[];
  /** Only with `as_of_out_of_range`. */
  readonly range?: TimeRange;
  readonly retryAfterSeconds?: number | null;
  readonly violatedPolicies?: readonly ("rate" | "month" | "concurrency")[];
  /** Headers that belong to this refusal: `Allow`, `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only. */
  readonly cause?: unknown;
}

export class ProblemError extends Error {
  override readonly name = "ProblemError";
  readonly code: ProblemCode;
  readonly fields: ProblemFields;

  constructor(code: ProblemCode, fields: ProblemFields = {}) {
    // Callers' errors have no stack: a batch may have millions of them, and a stack costs more than everything else.
    const { stackTraceLimit } = Error;
    if (errors[code].status < 500) Error.stackTraceLimit = 0;
    super(fields.detail ?? errors[code].happened, fields.cause === undefined ? undefined : { cause: fields.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.fields = fields;
  }
}

/** Where a problem happened. */
export interface ProblemPlace {
  readonly instance: string;
  readonly requestId: string;
  /** Start of the problem's `type`. */
  readonly errorDocsBase: string;
}

/** A URI reference (RFC 3986) that does not depend on the path of the request. */
const docsBase = /^(?:\/|https?:\/\/[^/?#]|urn:|tag:)[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/i;

/** What is wrong with a setting for `errorDocsBase`, to follow its name in a sentence; null: nothing. */
export function errorDocsBaseFault(text: string): string | null {
  const isWeb = /^https?:/i.test(text);
  if (docsBase.test(text) && (!isWeb || URL.canParse(text))) return null;
  return `must be a path such as /docs/errors/, or a URI that begins with https://, http://, urn: or tag:, not ${JSON.stringify(text)}`;
}

/** Seconds for `Retry-After` and `retry_after_seconds`; null if the response has neither. */
function retryAfterSeconds({ code, fields }: ProblemError): number | null {
  return fields.retryAfterSeconds ?? errors[code].retryAfterSeconds;
}

/** The body of the response. */
export function problemBody(error: ProblemError, place: ProblemPlace): Problem {
  const { code, fields } = error;
  const seconds = retryAfterSeconds(error);
  return {
    type: place.errorDocsBase + code,
    title: errors[code].title,
    status: errors[code].status,
    code,
    detail: error.message,
    instance: place.instance,
    request_id: place.requestId,
    ...(fields.errors === undefined ? {} : { errors: [...fields.errors] }),
    ...(fields.violatedPolicies === undefined ? {} : { "violated-policies": [...fields.violatedPolicies] }),
    ...fields.range,
    ...(seconds === null ? {} : { retry_after_seconds: seconds }),
  };
}

/** Every header of the response except those of limits. */
export function problemHeaders(error: ProblemError, place: ProblemPlace): Record<string, string> {
  const seconds = retryAfterSeconds(error);
  return {
    "content-type": "application/problem+json; charset=utf-8",
    "cache-control": "no-store",
    "x-request-id": place.requestId,
    ...(seconds === null ? {} : { "retry-after": String(seconds) }),
    ...error.fields.headers,
  };
}
