/** Keys and limits in front of a route: who asks, whether they may, and what is left. */

import type { Scope } from "@netfacts/contracts";
import { ProblemError } from "@netfacts/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Keyring, Verification, VerifiedKey } from "../keys/index.ts";
import type { Decision, Limiter } from "../limits/index.ts";
import type { GatewayMetrics } from "../metrics.ts";

/** An admitted request. */
export interface Pass {
  readonly key: VerifiedKey;
  /** Call once, before the answer is sent: gives the month's unit back unless the question was answered, and sets the limit headers. */
  settle(answered: boolean): void;
}

type Refused = Extract<Verification, { ok: false }>;

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
   * @throws ProblemError, also by rejecting; the limit headers are set where the key is known.
   */
  admit(request: FastifyRequest, reply: FastifyReply, scope: Scope | null, month: 0 | 1): Pass | Promise<Pass> {
    const verification = this.#keyring.verify(request.headers.authorization, request.clientAddress, scope ?? undefined);
    if (verification instanceof Promise) return verification.then((late) => this.#enter(late, request, reply, month));
    return this.#enter(verification, request, reply, month);
  }

  /** Charges a request that no route answers to its key, when it has one. */
  async admitToNothing(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.headers.authorization === undefined) return;
    (await this.admit(request, reply, null, 0)).settle(false);
  }

  #enter(verification: Verification, request: FastifyRequest, reply: FastifyReply, month: 0 | 1): Pass | Promise<Pass> {
    this.#metrics.verifications(verification.ok ? "ok" : verification.code).inc();
    return verification.ok ? this.#charge(request, reply, verification.key, month) : this.#refuse(verification, request, reply);
  }

  async #refuse(verification: Refused, request: FastifyRequest, reply: FastifyReply): Promise<never> {
    // A known key without the scope spends its rate, so that it cannot probe for free.
    if (verification.key !== null) (await this.#charge(request, reply, verification.key, 0)).settle(false);
    throw refusal(verification);
  }

  #charge(request: FastifyRequest, reply: FastifyReply, key: VerifiedKey, month: 0 | 1): Pass | Promise<Pass> {
    request.keyDisplay = key.display;
    const decision = this.#limiter.admit(key, { month });
    return decision instanceof Promise ? decision.then((late) => this.#pass(reply, key, late)) : this.#pass(reply, key, decision);
  }

  #pass(reply: FastifyReply, key: VerifiedKey, decision: Decision): Pass {
    this.#metrics.decisions(decision.admitted ? "admitted" : decision.code).inc();
    if (!decision.admitted) {
      reply.headers(this.#limiter.headers(key));
      const { code, retryAfterSeconds, violatedPolicies } = decision;
      throw new ProblemError(code, { retryAfterSeconds, ...(violatedPolicies.length === 0 ? {} : { violatedPolicies }) });
    }
    return { key, settle: (answered) => this.#settle(reply, decision, answered) };
  }

  #settle(reply: FastifyReply, decision: Decision, answered: boolean): void {
    this.#limiter.settle(decision, answered);
    reply.headers(this.#limiter.headers(decision.key));
  }
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
