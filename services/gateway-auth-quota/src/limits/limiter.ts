/** The limiter: admits requests by the rate and the month of their key, from leased blocks, and by the number of concurrent requests. */

import { randomUUID } from "node:crypto";
import type { UsageClass } from "@netfacts/contracts";
import { limitHeaders } from "../domain/limit-headers.ts";
import { atMost } from "./at-most.ts";
import { Lease } from "./lease.ts";
import type { LeaseDeps } from "./lease-deps.ts";
import { defaultLimiterSettings } from "./settings.ts";
import { StoreTime } from "./store-time.ts";
import type {
  Admission,
  Cost,
  Decision,
  LimitedKey,
  Limiter,
  LimiterOptions,
  LimiterSettings,
  LimitName,
  LimitStanding,
  Refusal,
  WindowStanding,
} from "./surface.ts";

/** Both leases of one bucket, and the number of its requests that hold a slot. */
interface Account {
  limits: LimitedKey["limits"];
  /** Limits that held before. A request that began under them does not bring them back. */
  readonly pastLimits: WeakSet<LimitedKey["limits"]>;
  /** Id of the key that the limits are from. */
  keyId: string;
  readonly rate: Lease;
  readonly month: Lease;
  slots: number;
  /** Units of the month reserved by batches in the window with this start, that may come back. */
  open: { windowStart: number; units: number };
  /** Units of the month that batches are requesting. */
  pending: number;
}

/** A request, or the items of a batch, to be admitted. */
interface Request {
  readonly key: LimitedKey;
  readonly rate: number;
  /** Units of the month. */
  readonly units: number;
  readonly usage: UsageClass;
  readonly slot: boolean;
  readonly isRequest: boolean;
}

/** A lease with its name. */
type NamedLease = readonly [Exclude<LimitName, "concurrency">, Lease];

/** `Retry-After` of `limits_unavailable` and `concurrency_limit_exceeded`, whose ends are unknown. */
const unknownRetrySeconds = 1;
/** An account without units and requests is deleted after this time. */
const forgetMs = 600_000;

export function createLimiter(options: LimiterOptions): Limiter {
  return new LeasedLimiter(options);
}

class LeasedLimiter implements Limiter {
  readonly #deps: LeaseDeps;
  readonly #accounts = new Map<string, Account>();
  readonly #sweep: NodeJS.Timeout;
  readonly #onSettled: NonNullable<LimiterOptions["onSettled"]>;
  #reading: Promise<void> | null = null;
  #stopped = false;

  constructor({ store, clock, settings: given, onSettled = () => {}, onDebt = () => {}, onFault = () => {} }: LimiterOptions) {
    const settings: LimiterSettings = { ...defaultLimiterSettings, ...given };
    const monotonic = (): number => clock?.monotonic?.() ?? performance.now();
    // Unique among all processes that ever change the counters of this store.
    const owner = randomUUID().replaceAll("-", "");
    let number = 0;
    const nextMark = () => ({ owner, number: ++number });
    this.#deps = { limits: store.limits, time: new StoreTime(monotonic), monotonic, settings, onDebt, onFault, owner, nextMark };
    this.#onSettled = onSettled;
    this.#sweep = setInterval(() => this.#tidy(), Math.max(10, settings.idleReturnMs / 4)).unref();
  }

  admit(key: LimitedKey, cost: Cost): Decision | Promise<Decision> {
    const account = this.#account(key);
    const isRequest = cost.isPart !== true;
    const concurrency = isRequest ? account.limits.concurrency : null;
    const slot = concurrency !== null;
    if (concurrency !== null && account.slots >= concurrency.limit) return concurrencyRefusal(key);
    if (slot) account.slots += 1;
    const { rate, month } = account;
    const { month: units, rate: price = 1, usage = "other" } = cost;
    const isRateSpent = rate.trySpend(price);
    // The path of nearly every request: no store, no promise.
    if (isRateSpent && (units === 0 ? month.isKnown : month.trySpend(units))) {
      return {
        admitted: true,
        key,
        charge: {
          rate: price,
          rateWindowStart: rate.windowStart,
          month: units,
          monthWindowStart: month.windowStart,
          at: month.now,
          slot,
          usage,
          isRequest,
          kept: 0,
        },
      };
    }
    const request: Request = { key, rate: price, units, usage, slot, isRequest };
    return isRateSpent ? this.#chargeMonth(account, request, rate.windowStart, this.#deadline()) : this.#chargeBoth(account, request);
  }

  async #chargeBoth(account: Account, request: Request): Promise<Decision> {
    const { rate, month } = account;
    const deadline = this.#deadline();
    await this.#learnTime(deadline);
    const spent = rate.spend(request.rate, this.#timeTo(deadline));
    // The first request of a key waits for the store once, not twice.
    if (request.units > 0) month.fetchAhead();
    const spending = await spent;
    if (typeof spending === "number") return this.#chargeMonth(account, request, spending, deadline);
    // The headers of a refusal report the month too.
    if (!month.isKnown) await month.look(this.#timeTo(deadline));
    if (request.slot) account.slots -= 1;
    const asked: NamedLease[] = [["rate", rate]];
    if (request.units > 0) asked.push(["month", month]);
    return refusal(request.key, spending, asked);
  }

  async #chargeMonth(account: Account, request: Request, rateWindowStart: number, deadline: number): Promise<Decision> {
    const { rate, month } = account;
    const { units } = request;
    if (units === 0) {
      await month.look(this.#timeTo(deadline));
      return admission(request, 0, month.windowStart, account, rateWindowStart);
    }
    const spending = await month.spend(units, this.#timeTo(deadline));
    if (typeof spending === "number") return admission(request, units, spending, account, rateWindowStart);
    rate.refund(request.rate, rateWindowStart);
    if (request.slot) account.slots -= 1;
    return monthRefusal(request.key, spending, account, units);
  }

  reserveMonth(key: LimitedKey, units: number, atLeast = units): Decision | Promise<Decision> {
    const account = this.#account(key);
    const { month } = account;
    const request: Request = { key, rate: 0, units, usage: "batch", slot: false, isRequest: false };
    if (!month.trySpend(units)) return this.#reserve(account, request, atLeast);
    return reservation(request, units, month.windowStart, account);
  }

  async #reserve(account: Account, request: Request, atLeast: number): Promise<Decision> {
    const { month } = account;
    const deadline = this.#deadline();
    await this.#learnTime(deadline);
    for (let wanted = request.units; ; ) {
      account.pending += wanted;
      const spending = await month.spend(wanted, this.#timeTo(deadline));
      account.pending -= wanted;
      if (typeof spending === "number") return reservation(request, wanted, spending, account);
      // Units left a moment ago. If others take some first, the loop tries again with fewer.
      const left = Math.min(wanted - 1, month.standing().remaining ?? 0);
      if (spending === "unavailable" || left < Math.max(1, atLeast))
        return monthRefusal(request.key, spending, account, Math.max(1, atLeast));
      wanted = left;
    }
  }

  release({ key, charge }: Admission): void {
    if (charge.slot) this.#account(key).slots -= 1;
  }

  settle(admission: Admission, answered: boolean | number): void {
    const { month, monthWindowStart, isRequest } = admission.charge;
    const kept = typeof answered === "number" ? answered : answered ? month : 0;
    const account = this.#account(admission.key);
    if (!isRequest) this.keep(admission, month);
    account.month.refund(month - kept, monthWindowStart);
    this.#onSettled(admission, kept, isRequest && kept === 0 ? 1 : 0);
  }

  keep({ key, charge }: Admission, units: number): number {
    const kept = Math.min(units, charge.month - charge.kept);
    charge.kept += kept;
    const { open } = this.#account(key);
    if (open.windowStart === charge.monthWindowStart) open.units -= kept;
    return kept;
  }

  returnMonth({ key, charge }: Admission, units: number): number {
    const given = Math.min(units, charge.month - charge.kept);
    charge.month -= given;
    const { month, open } = this.#account(key);
    if (open.windowStart === charge.monthWindowStart) open.units -= given;
    month.refund(given, charge.monthWindowStart);
    return given;
  }

  returnRate({ key, charge }: Admission, units: number): void {
    charge.rate -= units;
    this.#account(key).rate.refund(units, charge.rateWindowStart);
  }

  withdraw(admission: Admission): void {
    const { key, charge } = admission;
    this.returnRate(admission, charge.rate);
    this.#account(key).month.refund(charge.month, charge.monthWindowStart);
  }

  headers(key: LimitedKey): Record<string, string> {
    const { rate, month, slots, limits } = this.#account(key);
    const { concurrency } = limits;
    return limitHeaders(
      rate.shown(),
      limits.rate.windowSeconds,
      month.shown(),
      concurrency === null ? null : { limit: concurrency.limit, remaining: Math.max(0, concurrency.limit - slots) },
    );
  }

  async peek(key: LimitedKey): Promise<readonly LimitStanding[] | null> {
    const { rate, month, slots, limits } = this.#account(key);
    const deadline = this.#deadline();
    await this.#learnTime(deadline);
    await Promise.all([rate.look(this.#timeTo(deadline)), month.look(this.#timeTo(deadline))]);
    const standings = [windowStanding("rate", rate), windowStanding("month", month)] as const;
    if (standings[0] === null || standings[1] === null) return null;
    const { concurrency } = limits;
    if (concurrency === null) return [standings[0], standings[1]];
    const { limit } = concurrency;
    return [standings[0], standings[1], { name: "concurrency", limit, used: slots, remaining: Math.max(0, limit - slots) }];
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#sweep);
    await Promise.all([...this.#accounts.values()].flatMap(({ rate, month }) => [rate.stop(), month.stop()]));
  }

  /** The account of the key's bucket. Its limits change if those of the key are newer. */
  #account(key: LimitedKey): Account {
    const known = this.#accounts.get(key.bucket);
    if (known !== undefined) {
      if (known.limits !== key.limits && mayChangeLimits(known, key)) changeLimits(known, key);
      return known;
    }
    const { rate, month } = policies(key.limits);
    const account: Account = {
      limits: key.limits,
      pastLimits: new WeakSet(),
      keyId: key.id,
      rate: new Lease(key.bucket, "rate", rate, this.#deps),
      month: new Lease(key.bucket, "month", month, this.#deps, () => account.pending + openUnits(account)),
      slots: 0,
      open: { windowStart: -1, units: 0 },
      pending: 0,
    };
    if (this.#stopped) void Promise.all([account.rate.stop(), account.month.stop()]);
    this.#accounts.set(key.bucket, account);
    return account;
  }

  learnTime(): Promise<void> {
    return this.#learnTime(this.#deadline());
  }

  /** Windows are unknown until the store's time is known. */
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
      // The store is unavailable: this request is refused, and the next one asks again.
    }
  }

  #deadline(): number {
    return this.#deps.monotonic() + this.#deps.settings.waitMs;
  }

  #timeTo(deadline: number): number {
    return Math.max(0, deadline - this.#deps.monotonic());
  }

  #tidy(): void {
    for (const [bucket, { rate, month, slots }] of this.#accounts) {
      for (const lease of [rate, month]) {
        lease.settleDebt();
        if (lease.isIdle) void lease.giveBackIdle();
      }
      const isIdle = Math.min(rate.idleMs, month.idleMs) >= forgetMs;
      if (isIdle && slots === 0 && rate.isEmpty && month.isEmpty) this.#accounts.delete(bucket);
    }
  }
}

function policies({ rate, month }: LimitedKey["limits"]): { rate: Lease["policy"]; month: Lease["policy"] } {
  const perSecond = rate.limit / rate.windowSeconds;
  return { rate: { ...rate, perSecond }, month: { ...month, windowSeconds: null, perSecond } };
}

/** While a key and its successor both work, only the successor's limits change: keys that disagree would change them at each request. */
function mayChangeLimits({ pastLimits, keyId }: Account, { id, limits, rotation }: LimitedKey): boolean {
  return !pastLimits.has(limits) && (id === keyId || (rotation?.replacedBy ?? null) === null);
}

function changeLimits(account: Account, { id, limits }: LimitedKey): void {
  const { rate, month } = policies(limits);
  const before = account.limits;
  account.pastLimits.add(before);
  account.limits = limits;
  account.keyId = id;
  if (before.rate.limit === rate.limit && before.rate.windowSeconds === rate.windowSeconds && before.month.limit === month.limit) return;
  account.rate.changePolicy(rate);
  account.month.changePolicy(month);
}

function admission(
  { key, rate: price, usage, slot, isRequest }: Request,
  units: number,
  monthWindowStart: number,
  { rate, month }: Account,
  rateWindowStart = rate.windowStart,
): Admission {
  return {
    admitted: true,
    key,
    charge: { rate: price, rateWindowStart, month: units, monthWindowStart, at: month.now, slot, usage, isRequest, kept: 0 },
  };
}

function reservation(request: Request, units: number, windowStart: number, account: Account): Admission {
  if (account.open.windowStart !== windowStart) account.open = { windowStart, units: 0 };
  account.open.units += units;
  return admission(request, units, windowStart, account);
}

/** Units of the month that batches here have reserved, and that may come back. */
function openUnits({ month, open }: Account): number {
  return open.windowStart === month.windowStart ? open.units : 0;
}

/** Refusal by the month. `limits_unavailable` if the units would fit once batches, here or at other gateways, return what they reserved. */
function monthRefusal(key: LimitedKey, spending: "exhausted" | "unavailable", account: Account, units: number): Refusal {
  const { month } = account;
  const mayComeBack = openUnits(account) + month.othersReserved;
  const willFit = mayComeBack > 0 && month.headroom + mayComeBack >= units;
  return willFit && spending === "exhausted"
    ? { ...refusal(key, "unavailable", []), isReserved: true }
    : refusal(key, spending, [["month", month]]);
}

function concurrencyRefusal(key: LimitedKey): Refusal {
  return {
    admitted: false,
    key,
    code: "concurrency_limit_exceeded",
    retryAfterSeconds: unknownRetrySeconds,
    violatedPolicies: ["concurrency"],
  };
}

/** @param wanted  leases from which the request wanted units; the first one refused. */
function refusal(key: LimitedKey, spending: "exhausted" | "unavailable", wanted: readonly NamedLease[]): Refusal {
  if (spending === "unavailable") {
    return { admitted: false, key, code: "limits_unavailable", retryAfterSeconds: unknownRetrySeconds, violatedPolicies: [] };
  }
  const violated = wanted.filter(([, lease], i) => i === 0 || lease.standing().remaining === 0);
  return {
    admitted: false,
    key,
    code: wanted[0]?.[0] === "rate" ? "rate_limit_exceeded" : "quota_exceeded",
    retryAfterSeconds: Math.max(...violated.map(([, lease]) => lease.standing().resetsInSeconds ?? unknownRetrySeconds)),
    violatedPolicies: violated.map(([name]) => name),
  };
}

function windowStanding(name: "rate" | "month", lease: Lease): WindowStanding | null {
  const { limit, remaining, resetsInSeconds, resetsAt } = lease.shown();
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
