/** Keys and limits in front of a route: who asks, whether they may, and what is left. */

import type { Scope, UsageClass } from "@netfacts/contracts";
import { ProblemError } from "@netfacts/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Keyring, Verification, VerifiedKey } from "../keys/index.ts";
import type { Admission, Cost, Decision, Limiter, Refusal } from "../limits/index.ts";
import type { GatewayMetrics } from "../metrics.ts";
import { holdConnection } from "./connections.ts";

/** An admitted request. */
export interface Pass {
  readonly key: VerifiedKey;
  /** Call once, before the answer is sent: gives the month's unit back unless the question was answered, and sets the limit headers. */
  settle(answered: boolean): void;
  /** In place of `settle`, where the month refuses the items of a batch: the unit of the rate goes back. Sets the limit headers too. */
  withdraw(): void;
  /**
   * Takes month units for the items of a batch: all of `units`, or where the month has fewer left, as many as it has, but not fewer than
   * `atLeast` (default: `units`). A refusal is no end: the caller throws its `limitProblem`, or answers the items by it.
   */
  reserve(units: number, atLeast?: number): Promise<Reserved | Refusal>;
  /** Takes one more unit of the rate, for work that a long request makes beyond its own. Null: it was taken; else why the request ends. */
  payRate(): Promise<ProblemError | null>;
  /**
   * Follows the key while a long answer lasts (`Keyring.hold`); `reserve` charges the key as it is then.
   *
   * @param onChange gets the key as it is now, or why the answer ends.
   * @returns ends it.
   */
  hold(onChange: (change: VerifiedKey | ProblemError) => void): () => void;
}

/** Month units of a batch's items. */
export interface Reserved {
  readonly admitted: true;
  readonly units: number;
  /** So many of them will not come back. @returns how many of these are of this reservation: those that were not kept before. */
  keep(units: number): number;
  /** Call once, when all items of these units have ended; units beyond those answered go back. */
  settle(answered: number): void;
}

type Refused = Extract<Verification, { ok: false }>;

/** What a route wants of a key. */
type Entry = Required<Omit<Cost, "isPart">> & { readonly scope: Scope | null };

/** What is at hand is decided at once: a promise is made only where the store is asked. */
export class Guard {
  readonly #keyring: Keyring;
  readonly #limiter: Limiter;
  readonly #metrics: GatewayMetrics;

  constructor(keyring: Keyring, limiter: Limiter, metrics: GatewayMetrics) {
    this.#keyring = keyring;
    this.#limiter = limiter;
    this.#metrics = metrics;
  }

  /**
   * Verifies the key and charges its limits.
   *
   * @param scope what the route wants; null: any key will do.
   * @param month units of the month that the answer costs.
   * @param usage what the request is counted as; the scope where that says it.
   * @throws ProblemError, also by rejecting; the limit headers are set where the key is known.
   */
  admit(
    request: FastifyRequest,
    reply: FastifyReply,
    scope: Scope | null,
    month: 0 | 1,
    usage: UsageClass = scope ?? "other",
  ): Pass | Promise<Pass> {
    const verification = this.#keyring.verify(request.headers.authorization, request.clientAddress, scope ?? undefined);
    if (verification instanceof Promise) return verification.then((late) => this.#enter(late, request, reply, { month, usage, scope }));
    return this.#enter(verification, request, reply, { month, usage, scope });
  }

  /** Charges a request that no route answers to its key, when it has one. */
  async admitToNothing(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.headers.authorization === undefined) return;
    (await this.admit(request, reply, null, 0)).settle(false);
  }

  #enter(verification: Verification, request: FastifyRequest, reply: FastifyReply, cost: Entry): Pass | Promise<Pass> {
    this.#metrics.verifications(verification.ok ? "ok" : verification.code).inc();
    return verification.ok
      ? this.#charge(request, reply, verification.key, cost)
      : this.#refuse(verification, request, reply, { ...cost, month: 0 });
  }

  async #refuse(verification: Refused, request: FastifyRequest, reply: FastifyReply, cost: Entry): Promise<never> {
    // A known key without the scope spends its rate, so that it cannot probe for free.
    if (verification.key !== null) (await this.#charge(request, reply, verification.key, cost)).settle(false);
    throw refusal(verification);
  }

  #charge(request: FastifyRequest, reply: FastifyReply, key: VerifiedKey, cost: Entry): Pass | Promise<Pass> {
    request.keyDisplay = key.display;
    holdConnection(request.socket, key.bucket);
    if (key.endHeaders !== null) reply.headers(key.endHeaders);
    const decision = this.#limiter.admit(key, cost);
    return decision instanceof Promise
      ? decision.then((late) => this.#pass(request, reply, key, late, cost))
      : this.#pass(request, reply, key, decision, cost);
  }

  #pass(request: FastifyRequest, reply: FastifyReply, key: VerifiedKey, decision: Decision, { scope }: Entry): Pass {
    this.#metrics.decisions(decision.admitted ? "admitted" : decision.code).inc();
    if (!decision.admitted) {
      reply.headers(this.#limiter.headers(key));
      throw limitProblem(decision);
    }
    if (decision.charge.slot) this.#releaseAtEnd(reply, decision);
    let current = key;
    return {
      key,
      settle: (answered) => this.#settle(reply, decision, answered),
      withdraw: () => this.#withdraw(reply, decision),
      reserve: async (units, atLeast) => this.#reserved(await this.#limiter.reserveMonth(current, units, atLeast)),
      payRate: () => this.#payRate(current),
      hold: (onChange) =>
        this.#keyring.hold(key, request.clientAddress, scope ?? undefined, (change) => {
          if (change.ok) current = change.key;
          onChange(change.ok ? change.key : refusal(change));
        }),
    };
  }

  async #payRate(key: VerifiedKey): Promise<ProblemError | null> {
    const decision = await this.#limiter.admit(key, { month: 0, usage: "batch", isPart: true });
    this.#metrics.decisions(decision.admitted ? "admitted" : decision.code).inc();
    if (!decision.admitted) return limitProblem(decision);
    this.#limiter.settle(decision, false);
    return null;
  }

  /** However the request ends, its response closes: sent whole, broken off, or never begun as the client went away. */
  #releaseAtEnd({ raw }: FastifyReply, admission: Admission): void {
    if (raw.closed || raw.destroyed) this.#limiter.release(admission);
    else raw.once("close", () => this.#limiter.release(admission));
  }

  #reserved(decision: Decision): Reserved | Refusal {
    if (!decision.admitted) return decision;
    return {
      admitted: true,
      units: decision.charge.month,
      keep: (units) => this.#limiter.keep(decision, units),
      settle: (answered) => this.#limiter.settle(decision, answered),
    };
  }

  #settle(reply: FastifyReply, decision: Decision, answered: boolean): void {
    this.#limiter.settle(decision, answered);
    reply.headers(this.#limiter.headers(decision.key));
  }

  #withdraw(reply: FastifyReply, admission: Admission): void {
    this.#limiter.withdraw(admission);
    reply.headers(this.#limiter.headers(admission.key));
  }
}

/** What a refused request is answered, and a refused item of a batch. */
export function limitProblem({ code, retryAfterSeconds, violatedPolicies }: Refusal): ProblemError {
  return new ProblemError(code, { retryAfterSeconds, ...(violatedPolicies.length === 0 ? {} : { violatedPolicies }) });
}

function refusal({ code, detail, retryAfterSeconds }: Refused): ProblemError {
  const challenge = challengeOf(code);
  return new ProblemError(code, {
    detail,
    retryAfterSeconds,
    ...(challenge === null ? {} : { headers: { "www-authenticate": challenge } }),
  });
}

/** `WWW-Authenticate` of a 401 (RFC 6750 §3): no error code where no key was sent. */
function challengeOf(code: Refused["code"]): string | null {
  if (code === "missing_api_key") return 'Bearer realm="netfacts"';
  if (code !== "invalid_api_key" && code !== "expired_api_key" && code !== "revoked_api_key") return null;
  return `Bearer realm="netfacts", error="invalid_token", error_description="${code}"`;
}
