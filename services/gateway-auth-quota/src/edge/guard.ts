/** Keys and limits in front of a route: who asks, whether they may, and what is left. */

import type { Scope, UsageClass } from "@netfacts/contracts";
import { headers, ProblemError } from "@netfacts/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Keyring, Verification, VerifiedKey } from "../keys/index.ts";
import type { Admission, Cost, Decision, Limiter, Refusal } from "../limits/index.ts";
import type { GatewayMetrics } from "../metrics.ts";
import { holdConnection } from "./connections.ts";

/** An admitted request. */
export interface Pass {
  readonly key: VerifiedKey;
  /**
   * Call once, before the answer is sent: gives the month's unit back unless the question was answered, and sets the limit headers.
   *
   * @param failed  we are at fault (5xx): of the rate's units all but one go back. Default: false.
   */
  settle(answered: boolean, failed?: boolean): void;
  /** In place of `settle`, where a limit refuses the items of a batch: the units of the rate go back. Sets the limit headers too. */
  withdraw(): void;
  /**
   * Takes month units for the items of a batch: all of `units`, or where the month has fewer left, as many as it has, but not fewer than
   * `atLeast` (default: `units`). A refusal is no end: the caller throws its `limitProblem`, or answers the items by it.
   */
  reserve(units: number, atLeast?: number): Promise<Reserved | Refusal>;
  /**
   * Takes more units of the rate, for work of a batch beyond one unit; or tells why there are none for it.
   *
   * @param also  units that the batch takes in other calls: if all of them exceed the whole limit, none are taken. Default: 0.
   */
  payRate(units: number, also?: number): Promise<RatePaid | ProblemError>;
  /**
   * Follows the key while a long answer lasts (`Keyring.hold`); `reserve` charges the key as it is then.
   *
   * @param onChange gets the key as it is now, or why the answer ends.
   * @returns a function that stops following.
   */
  hold(onChange: (change: VerifiedKey | ProblemError) => void): () => void;
}

/** Units of the rate for items of a batch. */
export interface RatePaid {
  /** Gives back so many of them, at most all. */
  giveBack(units: number): void;
}

/** Month units of a batch's items. */
export interface Reserved {
  readonly admitted: true;
  readonly units: number;
  /** Marks units that will not be given back. @returns how many of them are of this reservation: those that were not marked before. */
  keep(units: number): number;
  /** Call once, when all items of these units have ended; units beyond those answered go back. */
  settle(answered: number): void;
}

type Refused = Extract<Verification, { ok: false }>;

/** What a route wants of a key. */
type Entry = Required<Omit<Cost, "isPart">> & { readonly scope: Scope | null };

/** Verifies keys and charges limits. Returns a promise only if the key or its units have to be fetched from the store. */
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
   * @param rate  units of the rate that it costs.
   * @throws ProblemError, also by rejecting; the limit headers are set where the key is known.
   */
  admit(
    request: FastifyRequest,
    reply: FastifyReply,
    scope: Scope | null,
    month: 0 | 1,
    usage: UsageClass = scope ?? "other",
    rate = 1,
  ): Pass | Promise<Pass> {
    const entry = { month, usage, scope, rate };
    const verification = this.#keyring.verify(request.headers.authorization, request.clientAddress, scope ?? undefined);
    if (verification instanceof Promise) return verification.then((late) => this.#enter(late, request, reply, entry));
    return this.#enter(verification, request, reply, entry);
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
      : this.#refuse(verification, request, reply, { ...cost, month: 0, rate: 1 });
  }

  async #refuse(verification: Refused, request: FastifyRequest, reply: FastifyReply, cost: Entry): Promise<never> {
    // A known key without the scope spends its rate, so that it cannot probe for free.
    if (verification.key !== null) (await this.#charge(request, reply, verification.key, cost)).settle(false);
    throw refusal(verification);
  }

  #charge(request: FastifyRequest, reply: FastifyReply, key: VerifiedKey, cost: Entry): Pass | Promise<Pass> {
    request.keyDisplay = key.display;
    holdConnection(request.raw, key.bucket);
    if (key.endHeaders !== null) reply.headers(key.endHeaders);
    reply.header(headers.requestCost, cost.rate);
    const excess = excessProblem(key, cost.rate);
    if (excess !== null) {
      this.#metrics.decisions(excess.code).inc();
      reply.headers(this.#limiter.headers(key));
      throw excess;
    }
    const decision = this.#limiter.admit(key, cost);
    return decision instanceof Promise
      ? decision.then((late) => this.#pass(request, reply, key, late, cost))
      : this.#pass(request, reply, key, decision, cost);
  }

  #pass(request: FastifyRequest, reply: FastifyReply, key: VerifiedKey, decision: Decision, { scope }: Entry): Pass {
    this.#metrics.decisions(decision.admitted ? "admitted" : decision.isReserved === true ? "units_reserved" : decision.code).inc();
    if (!decision.admitted) {
      reply.headers(this.#limiter.headers(key));
      throw limitProblem(decision);
    }
    if (decision.charge.slot) this.#releaseAtEnd(reply, decision);
    let current = key;
    const charges = [decision];
    let isOpen = true;
    return {
      key,
      settle: (answered, failed = false) => {
        isOpen = false;
        this.#settle(reply, charges, answered, failed);
      },
      withdraw: () => this.#withdraw(reply, charges),
      reserve: async (units, atLeast) => this.#reserved(await this.#limiter.reserveMonth(current, units, atLeast)),
      payRate: (units, also = 0) => this.#payRate(current, units, also, (paid) => isOpen && charges.push(paid)),
      hold: (onChange) =>
        this.#keyring.hold(key, request.clientAddress, scope ?? undefined, (change) => {
          if (change.ok) current = change.key;
          onChange(change.ok ? change.key : refusal(change));
        }),
    };
  }

  async #payRate(key: VerifiedKey, units: number, also: number, onPaid: (charge: Admission) => void): Promise<RatePaid | ProblemError> {
    // With the unit of the batch itself, which the same items would cost again.
    const excess = excessProblem(key, units + also + 1);
    if (excess !== null) return excess;
    const decision = await this.#limiter.admit(key, { month: 0, rate: units, usage: "batch", isPart: true });
    this.#metrics.decisions(decision.admitted ? "admitted" : decision.code).inc();
    if (!decision.admitted) return limitProblem(decision);
    onPaid(decision);
    return { giveBack: (given) => this.#limiter.returnRate(decision, given) };
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

  #settle(reply: FastifyReply, charges: readonly Admission[], answered: boolean, failed: boolean): void {
    const [request] = charges as readonly [Admission, ...Admission[]];
    if (failed) this.#limiter.returnRate(request, request.charge.rate - 1);
    this.#limiter.settle(request, answered);
    if (charges.length > 1 || failed)
      reply.header(
        headers.requestCost,
        charges.reduce((sum, { charge }) => sum + charge.rate, 0),
      );
    reply.headers(this.#limiter.headers(request.key));
  }

  #withdraw(reply: FastifyReply, charges: readonly Admission[]): void {
    const [request] = charges as readonly [Admission, ...Admission[]];
    for (const admission of charges) this.#limiter.withdraw(admission);
    reply.headers(this.#limiter.headers(request.key));
  }
}

/** Why no window of the key ever has room for a request of this price; null where one has. */
function excessProblem({ limits: { rate } }: VerifiedKey, units: number): ProblemError | null {
  if (units === 1 || units <= rate.limit) return null;
  const limit = `${rate.limit} ${rate.limit === 1 ? "unit" : "units"} per ${rate.windowSeconds} s`;
  return new ProblemError("cost_exceeds_limit", { detail: `The request costs ${units} units, and the rate limit of the key is ${limit}.` });
}

/** What a refused request is answered, and a refused item of a batch. */
export function limitProblem({ code, retryAfterSeconds, violatedPolicies, isReserved }: Refusal): ProblemError {
  const detail =
    isReserved === true
      ? { detail: "The rest of the quota is reserved by batches of the key that are in progress, and may come back." }
      : {};
  return new ProblemError(code, { retryAfterSeconds, ...detail, ...(violatedPolicies.length === 0 ? {} : { violatedPolicies }) });
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
