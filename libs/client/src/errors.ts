/** The errors of a request: a problem that the server returned, or no response of Netfacts. */

import type { Problem, ProblemCode } from "@netfacts/contracts";
import type { Limits } from "./limits.ts";

/** The server returned a problem (RFC 9457). */
export class NetfactsProblem extends Error {
  override readonly name = "NetfactsProblem";
  readonly problem: Problem;
  /** Limits of the key, from this response; null if it has none. */
  readonly limits: Limits | null;

  constructor(problem: Problem, limits: Limits | null) {
    super(`${problem.code}: ${problem.detail}`);
    this.problem = problem;
    this.limits = limits;
  }

  get code(): ProblemCode {
    return this.problem.code;
  }
  get status(): number {
    return this.problem.status;
  }
  /** Give it to the operator when you report the problem. */
  get requestId(): string {
    return this.problem.request_id;
  }
  /** Seconds after which the same request may succeed; null if unknown. */
  get retryAfterSeconds(): number | null {
    return this.problem.retry_after_seconds ?? null;
  }
  /** The requests of the window are used up. Wait a moment. */
  get isRateLimit(): boolean {
    return this.code === "rate_limit_exceeded";
  }
  /** The quota of the month is used up. Wait for the next month, or ask the operator for more. */
  get isQuota(): boolean {
    return this.code === "quota_exceeded";
  }
}

/** No response of Netfacts: no connection, a timeout, an interrupted response, or the response of a proxy. */
export class NetfactsUnreachable extends Error {
  override readonly name = "NetfactsUnreachable";
  /** Status of a response that is not from Netfacts, such as that of a proxy; null if there was none. */
  readonly status: number | null;
  /** Seconds to wait before the next try, from `Retry-After` of that response; null if it has none. */
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    {
      status = null,
      retryAfterSeconds = null,
      cause,
    }: { readonly status?: number | null; readonly retryAfterSeconds?: number | null; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
