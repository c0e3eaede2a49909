/** What a question can fail with: a problem that the installation told, or no answer at all. */

import type { Problem, ProblemCode } from "@netfacts/contracts";
import type { Limits } from "./limits.ts";

/** The installation answered with a problem (RFC 9457). */
export class NetfactsProblem extends Error {
  override readonly name = "NetfactsProblem";
  readonly problem: Problem;
  /** The key's limits as the answer told them. */
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
  /** Quote it to the operator. */
  get requestId(): string {
    return this.problem.request_id;
  }
  /** Seconds after which the same question may succeed; null: not told. */
  get retryAfterSeconds(): number | null {
    return this.problem.retry_after_seconds ?? null;
  }
  /** The window's requests are used up: a moment's wait helps. */
  get isRateLimit(): boolean {
    return this.code === "rate_limit_exceeded";
  }
  /** The month's questions are used up: nothing but the next month, or the operator, helps. */
  get isQuota(): boolean {
    return this.code === "quota_exceeded";
  }
}

/** No answer that is one of Netfacts: no connection, no answer in time, an answer that broke off, or that of something in between. */
export class NetfactsUnreachable extends Error {
  override readonly name = "NetfactsUnreachable";
  /** Status of an answer that is none of ours, as that of a proxy; null: there was none. */
  readonly status: number | null;

  constructor(message: string, { status = null, cause }: { readonly status?: number | null; readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
  }
}
