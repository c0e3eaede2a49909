/** The limiter: admits requests against the rate and the month of their key, from leased blocks. */

import { limitHeaders } from "../domain/limit-headers.ts";
import { atMost, Lease, type LeaseDeps, type Spending } from "./lease.ts";
import { defaultLimiterSettings } from "./settings.ts";
import { StoreTime } from "./store-time.ts";
import type { Admission, Decision, LimitedKey, Limiter, LimiterOptions, LimiterSettings, LimitStanding, Refusal } from "./surface.ts";

/** Both leases of one bucket. */
interface Account {
  limits: LimitedKey["limits"];
  readonly rate: Lease;
  readonly month: Lease;
}

/** Sent with `limits_unavailable`. */
const unavailableRetrySeconds = 1;
/** An account without units and requests is forgotten after this time. */
const forgetMs = 600_000;

export function createLimiter(options: LimiterOptions): Limiter {
  return new LeasedLimiter(options);
}

class LeasedLimiter implements Limiter {
  readonly #deps: LeaseDeps;
  readonly #accounts = new Map<string, Account>();
  readonly #sweep: NodeJS.Timeout;
  #reading: Promise<void> | null = null;
  #stopped = false;

  constructor({ store, clock, settings: given }: LimiterOptions) {
    const settings: LimiterSettings = { ...defaultLimiterSettings, ...given };
    const monotonic = (): number => clock?.monotonic?.() ?? performance.now();
    this.#deps = { limits: store.limits, time: new StoreTime(monotonic), monotonic, settings };
    this.#sweep = setInterval(() => this.#tidy(), Math.max(10, settings.idleReturnMs / 4)).unref();
  }

  admit(key: LimitedKey, cost: { readonly month: number }): Decision | Promise<Decision> {
    const { rate, month } = this.#account(key);
    if (!rate.trySpend(1)) return this.#chargeBoth(key, cost.month);
    if (cost.month === 0 ? month.isKnown : month.trySpend(cost.month)) return admission(key, cost.month, month);
    return this.#chargeMonth(key, cost.month, this.#deadline());
  }

  async #chargeBoth(key: LimitedKey, units: number): Promise<Decision> {
    const { rate, month } = this.#account(key);
    const deadline = this.#deadline();
    await this.#learnTime(deadline);
    const spending = await rate.spend(1, this.#timeTo(deadline));
    if (spending === "spent") return this.#chargeMonth(key, units, deadline);
    // The headers of a refusal tell of the month too.
    if (!month.isKnown) await month.look(this.#timeTo(deadline));
    return refusal(key, spending, "rate", rate);
  }

  settle(decision: Decision, answered: boolean | number): void {
    if (!decision.admitted) return;
    const { month, monthWindowStart } = decision.charge;
    const kept = typeof answered === "number" ? answered : answered ? month : 0;
    this.#account(decision.key).month.refund(month - kept, monthWindowStart);
  }

  headers(key: LimitedKey): Record<string, string> {
    const { rate, month } = this.#account(key);
    return limitHeaders(rate.standing(), key.limits.rate.windowSeconds, month.standing());
  }

  async peek(key: LimitedKey): Promise<readonly [LimitStanding, LimitStanding] | null> {
    const { rate, month } = this.#account(key);
    const deadline = this.#deadline();
    await this.#learnTime(deadline);
    await Promise.all([rate.look(this.#timeTo(deadline)), month.look(this.#timeTo(deadline))]);
    const standings = [limitStanding("rate", rate), limitStanding("month", month)] as const;
    return standings[0] === null || standings[1] === null ? null : [standings[0], standings[1]];
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#sweep);
    await Promise.all([...this.#accounts.values()].flatMap(({ rate, month }) => [rate.stop(), month.stop()]));
  }

  async #chargeMonth(key: LimitedKey, units: number, deadline: number): Promise<Decision> {
    const { rate, month } = this.#account(key);
    const rateWindowStart = rate.windowStart;
    if (units === 0) {
      await month.look(this.#timeTo(deadline));
      return admission(key, 0, month);
    }
    const spending = await month.spend(units, this.#timeTo(deadline));
    if (spending === "spent") return admission(key, units, month);
    rate.refund(1, rateWindowStart);
    return refusal(key, spending, "month", month);
  }

  #account(key: LimitedKey): Account {
    const known = this.#accounts.get(key.bucket);
    if (known !== undefined) {
      if (known.limits !== key.limits) changeLimits(known, key.limits);
      return known;
    }
    const { rate, month } = policies(key.limits);
    const account: Account = {
      limits: key.limits,
      rate: new Lease(key.bucket, "rate", rate, this.#deps),
      month: new Lease(key.bucket, "month", month, this.#deps),
    };
    if (this.#stopped) void Promise.all([account.rate.stop(), account.month.stop()]);
    this.#accounts.set(key.bucket, account);
    return account;
  }

  /** Windows cannot be known before the store's time is. */
  async #learnTime(deadline: number): Promise<void> {
    if (this.#deps.time.now() !== null || this.#stopped) return;
    this.#reading ??= this.#readTime().finally(() => {
      this.#reading = null;
    });
    await atMost(this.#reading, this.#timeTo(deadline));
  }

  async #readTime(): Promise<void> {
    const sentAt = this.#deps.monotonic();
    try {
      this.#deps.time.observe(await this.#deps.limits.time(), sentAt);
    } catch {
      // The store is away: the request that asked is told so, and the next one asks again.
    }
  }

  #deadline(): number {
    return this.#deps.monotonic() + this.#deps.settings.waitMs;
  }

  #timeTo(deadline: number): number {
    return Math.max(0, deadline - this.#deps.monotonic());
  }

  #tidy(): void {
    for (const [bucket, { rate, month }] of this.#accounts) {
      for (const lease of [rate, month]) if (lease.idleMs >= this.#deps.settings.idleReturnMs) void lease.giveBackIdle();
      if (Math.min(rate.idleMs, month.idleMs) >= forgetMs && rate.isEmpty && month.isEmpty) this.#accounts.delete(bucket);
    }
  }
}

function policies({ rate, month }: LimitedKey["limits"]): { rate: Lease["policy"]; month: Lease["policy"] } {
  const perSecond = rate.limit / rate.windowSeconds;
  return { rate: { ...rate, perSecond }, month: { ...month, windowSeconds: null, perSecond } };
}

function changeLimits(account: Account, limits: LimitedKey["limits"]): void {
  const { rate, month } = policies(limits);
  const before = account.limits;
  account.limits = limits;
  if (before.rate.limit !== rate.limit || before.rate.windowSeconds !== rate.windowSeconds) account.rate.changePolicy(rate);
  if (before.month.limit !== month.limit || account.month.policy.perSecond !== month.perSecond) account.month.changePolicy(month);
}

function admission(key: LimitedKey, units: number, month: Lease): Admission {
  return { admitted: true, key, charge: { month: units, monthWindowStart: month.windowStart } };
}

function refusal(key: LimitedKey, spending: Exclude<Spending, "spent">, policy: "rate" | "month", lease: Lease): Refusal {
  if (spending === "unavailable") {
    return { admitted: false, key, code: "limits_unavailable", retryAfterSeconds: unavailableRetrySeconds, violatedPolicies: [] };
  }
  const code = policy === "rate" ? "rate_limit_exceeded" : "quota_exceeded";
  const retryAfterSeconds = lease.standing().resetsInSeconds ?? unavailableRetrySeconds;
  return { admitted: false, key, code, retryAfterSeconds, violatedPolicies: [policy] };
}

function limitStanding(name: "rate" | "month", lease: Lease): LimitStanding | null {
  const { limit, remaining, resetsInSeconds, resetsAt } = lease.standing();
  if (remaining === null || resetsInSeconds === null || resetsAt === null) return null;
  const { windowSeconds } = lease.policy;
  return {
    name,
    limit,
    windowSeconds: name === "rate" ? windowSeconds : null,
    used: limit - remaining,
    remaining,
    resetsInSeconds,
    resetsAt,
  };
}
