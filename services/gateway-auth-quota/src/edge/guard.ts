/** Keys and limits in front of a route: verifies the key, charges its limits, and sets the limit headers. */

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
   * Call once, before the answer is sent. Returns the unit of the month unless the question was answered, and sets the limit headers.
   *
   * @param failed  the server is at fault (5xx): all units of the rate but one are returned. Default: false.
   */
  settle(answered: boolean, failed?: boolean): void;
  /** Call instead of `settle` if a limit refuses the items of a batch: returns the units of the rate, and sets the limit headers. */
  withdraw(): void;
  /**
   * Reserves units of the month for the items of a batch: `units`, or all that are left if these are at least `atLeast` (default: `units`).
   * A refusal is not thrown: the caller throws its `limitProblem`, or answers the items with it.
   */
  reserve(units: number, atLeast?: number): Promise<Reserved | Refusal>;
  /**
   * Takes further units of the rate, for the work of a batch beyond its own unit.
   *
   * @param also  units that the batch takes in other calls: none are taken if all together exceed the whole limit. Default: 0.
   * @returns the reason as a problem if no units were taken.
   */
  payRate(units: number, also?: number): Promise<RatePaid | ProblemError>;
  /**
   * Follows changes of the key during a long answer (`Keyring.hold`); `reserve` charges the current key.
   *
   * @param onChange gets the changed key, or the problem that ends the answer.
   * @returns a function that stops following.
   */
  hold(onChange: (change: VerifiedKey | ProblemError) => void): () => void;
}

/** Units of the rate for items of a batch. */
export interface RatePaid {
  /** Returns some of them; at most all. */
  giveBack(units: number): void;
}

/** Month units of a batch's items. */
export interface Reserved {
  readonly admitted: true;
  /** Without those that were given back. */
  readonly units: number;
  /** Gives back units before the end. @returns how many of them are of this reservation: those that were not marked. */
  giveBack(units: number): number;
  /** Marks units that will not be given back. @returns how many of them are of this reservation: those that were not marked before. */
  keep(units: number): number;
  /** Call once, when all items of these units have ended. Returns the units beyond `answered`. */
  settle(answered: number): void;
}

type Refused = Extract<Verification, { ok: false }>;

/** The scope that a route requires of a key, and the cost of the request. */
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
   * @param scope that the route requires; null: any key will do.
   * @param month units of the month that the answer costs.
   * @param usage class that the request is counted in. Default: the scope.
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

  /** Charges the key, if there is one, for a request that has no route. */
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
    // A known key without the scope pays a unit of its rate, so that probing is not free.
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
        this.#settle(reply, current, charges, answered, failed);
      },
      withdraw: () => this.#withdraw(reply, current, charges),
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
    // Plus the unit of the batch itself: to send the same items again costs it again.
    const excess = excessProblem(key, units + also + 1);
    if (excess !== null) return excess;
    const decision = await this.#limiter.admit(key, { month: 0, rate: units, usage: "batch", isPart: true });
    this.#metrics.decisions(decision.admitted ? "admitted" : decision.code).inc();
    if (!decision.admitted) return limitProblem(decision);
    onPaid(decision);
    return { giveBack: (given) => this.#limiter.returnRate(decision, given) };
  }

  /** Frees the slot when the response closes, which happens however the request ends. */
  #releaseAtEnd({ raw }: FastifyReply, admission: Admission): void {
    if (raw.closed || raw.destroyed) this.#limiter.release(admission);
    else raw.once("close", () => this.#limiter.release(admission));
  }

  #reserved(decision: Decision): Reserved | Refusal {
    if (!decision.admitted) return decision;
    return {
      admitted: true,
      get units() {
        return decision.charge.month;
      },
      giveBack: (units) => this.#limiter.returnMonth(decision, units),
      keep: (units) => this.#limiter.keep(decision, units),
      settle: (answered) => this.#limiter.settle(decision, answered),
    };
  }

  #settle(reply: FastifyReply, key: VerifiedKey, charges: readonly Admission[], answered: boolean, failed: boolean): void {
    const [request] = charges as readonly [Admission, ...Admission[]];
    if (failed) this.#limiter.returnRate(request, request.charge.rate - 1);
    this.#limiter.settle(request, answered);
    if (charges.length > 1 || failed)
      reply.header(
        headers.requestCost,
        charges.reduce((sum, { charge }) => sum + charge.rate, 0),
      );
    reply.headers(this.#limiter.headers(key));
  }

  #withdraw(reply: FastifyReply, key: VerifiedKey, charges: readonly Admission[]): void {
    for (const admission of charges) this.#limiter.withdraw(admission);
    reply.headers(this.#limiter.headers(key));
  }
}

/** The problem of a request that costs more than the whole rate limit of the key; null: it costs less. */
function excessProblem({ limits: { rate } }: VerifiedKey, units: number): ProblemError | null {
  if (units === 1 || units <= rate.limit) return null;
  const limit = `${rate.limit} ${rate.limit === 1 ? "unit" : "units"} per ${rate.windowSeconds} s`;
  return new ProblemError("cost_exceeds_limit", { detail: `The request costs ${units} units, and the rate limit of the key is ${limit}.` });
}

/** The problem that answers a refused request, or a refused item of a batch. */
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

/** `WWW-Authenticate` of a 401 (RFC 6750 §3); it has no error code if no key was sent. */
function challengeOf(code: Refused["code"]): string | null {
  if (code === "missing_api_key") return 'Bearer realm="netfacts"';
  if (code !== "invalid_api_key" && code !== "expired_api_key" && code !== "revoked_api_key") return null;
  return `Bearer realm="netfacts", error="invalid_token", error_description="${code}"`;
}
