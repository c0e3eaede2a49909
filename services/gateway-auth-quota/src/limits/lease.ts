/** One bucket's share of a policy: leases blocks of units from the store, and spends them without it (docs/design/protocols.md#limits-by-leases). */

import type { LimitMark, LimitReading, LimitWindow } from "@netfacts/storage";
import { holdMax, type Policy, type PolicyName, resetSeconds, type Window, windowAt } from "../domain/limit-windows.ts";
import { atMost } from "./at-most.ts";
import { counterEndMs, refillAfterMs } from "./counter-times.ts";
import { Debt } from "./debt.ts";
import type { LeaseDeps, LeaseStanding } from "./lease-deps.ts";
import { NextLease, type Unknown } from "./next-lease.ts";
import { OthersPace } from "./others-pace.ts";
import { OwnPace } from "./own-pace.ts";
import { Refusals } from "./refusals.ts";
import { type Spending, Waiters } from "./waiters.ts";

/** Retries of a take that did not fit, with the units that are left. */
const retriesMax = 3;
/** If a window is entered later than this after its start, others may have leased blocks in it that we do not know. */
const freshMs = 1_000;

export class Lease {
  policy: Policy;
  readonly #bucket: string;
  readonly #name: PolicyName;
  readonly #deps: LeaseDeps;
  /** Units of the window that batches have reserved here, and may return. */
  readonly #reserved: () => number;
  #hasReserved = false;
  /** The same at other gateways, by their last report. */
  #othersReserved = 0;
  /** Part of `#leased` that others held unspent at their last report. */
  #othersHeld = 0;

  #window: Window | null = null;
  /** Store time when the clock was last read; within the window. */
  #now = 0;
  #unspent = 0;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** The store's counter as last seen; null until the first reply for this window. If we saw the window begin, it starts at 0. */
  #leased: number | null = null;
  /** The next block is fetched ahead when no more than this many units are unspent. */
  #prefetchAt = -1;
  /** Unspent units when the counter was last seen. */
  #filledTo = 0;

  readonly #own: OwnPace;
  readonly #others: OthersPace;
  readonly #waiters: Waiters;
  /** The take or return in flight; there is at most one. */
  #busy: Promise<void> | null = null;
  readonly #refusals = new Refusals();
  #unavailableUntil = 0;
  /** After an unknown outcome blocks have only the requested units, so that an unstable store loses few units. */
  #careful = false;
  /** The store has not replied since the last failure or unknown outcome. */
  #away = false;
  /** Change of this window with an unknown outcome; its units count as lost until it is looked up. */
  #unknown: Unknown | null = null;
  readonly #debt: Debt;
  readonly #next: NextLease;
  #stopped = false;
  #usedAt: number;

  constructor(bucket: string, name: PolicyName, policy: Policy, deps: LeaseDeps, reserved: () => number = () => 0) {
    this.#reserved = reserved;
    this.#bucket = bucket;
    this.#name = name;
    this.policy = policy;
    this.#deps = deps;
    this.#debt = new Debt(deps.settings.debtMax, (event, units) => deps.onDebt(event, name, units));
    this.#next = new NextLease(deps, (window) => this.#counter(window));
    this.#own = new OwnPace(deps.monotonic);
    this.#others = new OthersPace(deps.monotonic);
    this.#waiters = new Waiters(deps.settings.waitersMax);
    this.#usedAt = deps.monotonic();
  }

  /** Start of the window that spent units belong to, Unix seconds; -1 before the first window. */
  get windowStart(): number {
    return this.#window?.start ?? -1;
  }

  /** Store time of the last request, Unix ms; within the window of `windowStart`. */
  get now(): number {
    return this.#now;
  }

  get idleMs(): number {
    return this.#deps.monotonic() - this.#usedAt;
  }

  /** Whether it is idle for so long (three of its usual pauses, within limits) that other gateways can make better use of its units. */
  get isIdle(): boolean {
    const { idleReturnMs, idleReturnMsMax, bridgeSeconds } = this.#deps.settings;
    const pause = bridgeSeconds === 0 ? 0 : 1_000 / (this.#own.recent ?? Number.POSITIVE_INFINITY);
    return this.idleMs >= Math.max(idleReturnMs, Math.min(3 * pause, idleReturnMsMax));
  }

  /** Whether `standing` knows what remains. */
  get isKnown(): boolean {
    this.#roll();
    return this.#leased !== null;
  }

  /** Whether the lease has nothing left to spend, return, pay or look up. */
  get isEmpty(): boolean {
    return (
      this.#unspent === 0 &&
      this.#busy === null &&
      this.#waiters.units === 0 &&
      this.#debt.owed === 0 &&
      this.#unknown === null &&
      this.#next.isEmpty
    );
  }

  /** The request path while a block has units: uses no store, and does not wait. */
  trySpend(units: number): boolean {
    this.#roll();
    this.#usedAt = this.#deps.monotonic();
    // Waiting requests came first.
    if (this.#unspent < units || this.#waiters.units > 0 || this.#stopped) return false;
    this.#unspent -= units;
    this.#own.spent(units);
    if ((this.#unspent <= this.#prefetchAt || this.#isOutdated(this.#usedAt)) && this.#mayAsk()) this.#work(true);
    return true;
  }

  /** @param waitMs  longest wait for the store. */
  spend(units: number, waitMs: number): Promise<Spending> | Spending {
    if (this.trySpend(units)) return this.windowStart;
    const spending = this.#ask(units, waitMs);
    if (this.#deps.settings.debtMax === 0) return spending;
    return spending instanceof Promise ? spending.then((late) => this.#orOnDebt(units, late)) : this.#orOnDebt(units, spending);
  }

  /** Fetches a first block of an unknown window, for a request that waits for another lease meanwhile. */
  fetchAhead(): void {
    if (!this.isKnown && this.#mayAsk()) this.#work(true);
  }

  #ask(units: number, waitMs: number): Promise<Spending> | Spending {
    if (this.#stopped || this.#window === null) return "unavailable";
    if (units > this.policy.limit) return "exhausted";
    if (this.#busy === null) {
      const now = this.#deps.monotonic();
      if (now < this.#unavailableUntil) return "unavailable";
      if (this.#refusals.isRefused(units, this.#unspent, now)) return "exhausted";
    }
    // If debt is allowed, no request waits for a store that was just unavailable. The store is asked again in the background.
    if (this.#away && this.#deps.settings.debtMax > 0) {
      this.#work(false);
      return "unavailable";
    }
    const waiting = this.#waiters.join(units, waitMs);
    if (waiting === null) return "unavailable";
    this.#work(false);
    return waiting;
  }

  /** Spends units on debt, as far as this allows, if the store was unavailable. */
  #orOnDebt(units: number, spending: Spending): Spending {
    if (spending !== "unavailable" || this.#stopped) return spending;
    this.#roll();
    if (this.#window === null || units > this.#left()) return spending;
    return this.#debt.incur(units) ? this.#window.start : spending;
  }

  /** Returns units that were spent in the window of this start, and were not used. Does nothing if that window has ended. */
  refund(units: number, windowStart: number): void {
    this.#roll();
    if (units === 0 || windowStart !== this.windowStart) return;
    this.#unspent += units - this.#debt.forgive(units);
    this.#serve();
    if (this.#excess() > 0) this.#work(false);
  }

  /** Reads the counter of the window if it is unknown, or others may have changed it since the last reading. Gives up after `waitMs`. */
  async look(waitMs: number): Promise<void> {
    this.#roll();
    const window = this.#window;
    const now = this.#deps.monotonic();
    if (window === null || (this.#leased !== null && !this.#isOutdated(now))) return;
    if (this.#busy === null && now >= this.#unavailableUntil && !this.#stopped) void this.#exclusively(() => this.#readAgain(window));
    if (this.#busy !== null) await atMost(this.#busy, waitMs);
  }

  standing(): LeaseStanding {
    this.#roll();
    const { limit } = this.policy;
    const now = this.#deps.time.now();
    if (now === null || this.#window === null) return { limit, remaining: null, resetsInSeconds: null, resetsAt: null };
    const remaining = this.#leased === null ? null : this.#left();
    return { limit, remaining, resetsInSeconds: resetSeconds(this.#window, now), resetsAt: this.#window.endMs };
  }

  /** Units that the limit leaves, as far as known: with those unspent here, and without those owed. Below 0 if the limit was lowered. */
  get headroom(): number {
    return this.policy.limit - (this.#leased ?? 0) + this.#unspent - this.#debt.owed;
  }

  /**
   * The standing for callers, which differs little between gateways. It adds the units that others hold unspent, less those that they have
   * probably spent since their last report. `remaining` is never less than what can be spent here.
   */
  shown(): LeaseStanding {
    const standing = this.standing();
    const { remaining } = standing;
    if (remaining === null) return standing;
    const estimate = Math.min(this.policy.limit, this.headroom + this.#othersHeld - this.#others.ahead());
    return { ...standing, remaining: Math.max(Math.min(remaining, this.#unspent), estimate) };
  }

  get othersReserved(): number {
    return this.#othersReserved;
  }

  /**
   * Mark of a change, which reports to other gateways the unspent units held here, and the reserved units that may come back. So no other
   * gateway takes the limit for used up meanwhile.
   *
   * @param units  units that the change adds to those held, if it is done.
   */
  #mark(units: number): LimitMark {
    const mark = { ...this.#deps.nextMark(), held: Math.max(0, this.#unspent + units - this.#waiters.units) };
    const reserved = this.#reserved();
    this.#hasReserved ||= reserved > 0;
    return this.#hasReserved ? { ...mark, reserved } : mark;
  }

  /** Notes a reading of the counter. @param own  our part of its growth since the previous reading. */
  #see({ leased, held = 0 }: Omit<LimitReading, "at">, own: number): void {
    // Units that others have spent since the previous reading.
    this.#others.observe(leased - held - ((this.#leased ?? 0) - this.#othersHeld) - own);
    this.#leased = leased;
    this.#othersHeld = held;
    this.#filledTo = this.#unspent + Math.max(0, own);
  }

  #left(): number {
    return Math.max(0, Math.min(this.policy.limit, this.headroom));
  }

  /** Pays debt and looks up an unknown outcome, if the store may be asked again. */
  settleDebt(): void {
    this.#roll();
    if ((this.#debt.owed > 0 || this.#unknown !== null) && this.#mayAsk()) this.#work(false);
  }

  /** Returns every unspent unit, unless a call is in flight: then the lease is not idle. */
  async giveBackIdle(): Promise<void> {
    this.#roll();
    const mayAsk = this.#busy === null && (this.#unknown === null || this.#stopped);
    if (this.idleMs >= this.#deps.settings.idleReturnMsMax) this.#own.reset();
    if (!mayAsk || (this.#unspent === 0 && this.#next.isEmpty)) return;
    await this.#exclusively(async () => {
      if (this.#unspent > 0) await this.#giveBack(this.#unspent);
      const late = await this.#next.giveBack();
      if (late !== null && this.#isHere(late)) this.#unknown = late;
    });
  }

  /** Ends takes, turns waiting requests away, pays debt, and returns unspent units. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#waiters.turnAway("unavailable");
    await this.#busy;
    await this.#exclusively(async () => {
      await this.#next.recover();
      await this.#recover();
      if (this.#debt.owed > 0) await this.#payDebt();
    });
    this.#debt.writeOff(this.#debt.owed);
    await this.giveBackIdle();
  }

  /** Enters the window of the store's time. Units of an ended window are worthless: they are dropped, not returned. */
  #roll(): void {
    const now = this.#deps.time.now();
    if (now === null) return;
    this.#now = now;
    const window = this.#window;
    if (window !== null && now >= window.startMs && now < window.endMs) return;
    const next = windowAt(this.policy.windowSeconds, now);
    this.#window = next;
    const early = this.#next.enter(next);
    this.#unspent = early?.units ?? 0;
    this.#hasReserved = false;
    this.#othersReserved = 0;
    this.#othersHeld = early?.held ?? 0;
    this.#unknown = early?.unknown ?? null;
    this.#others.reset();
    this.#debt.enterWindow(next.start, window !== null && next.start < window.start);
    // If we saw the window begin, nothing is leased in it as far as we know.
    this.#leased = early?.leased ?? (window !== null && next.startMs >= window.endMs && now - next.startMs < freshMs ? 0 : null);
    this.#prefetchAt = Math.floor(this.#unspent / 4) || -1;
    this.#filledTo = this.#unspent;
    this.#refusals.forget();
    // The limit was lowered after these units were leased: those beyond it go back before they can be spent.
    if (early !== null && early.limit > this.policy.limit) this.#work(false);
  }

  /** Changes the limit or window length of the bucket. Units beyond what may be held of a lower limit go back before they can be spent. */
  changePolicy(policy: Policy): void {
    if (policy.windowSeconds !== this.policy.windowSeconds) this.#window = null;
    this.policy = policy;
    this.#refusals.forget();
    if (this.#excess() > 0) this.#work(false);
  }

  #mayAsk(): boolean {
    return this.#busy === null && this.#deps.monotonic() >= Math.max(this.#refusals.exhaustedUntil, this.#unavailableUntil);
  }

  #work(ahead: boolean): void {
    if (this.#busy === null && !this.#stopped) void this.#exclusively(() => this.#attend(ahead));
  }

  #exclusively(work: () => Promise<void>): Promise<void> {
    const end = (): void => {
      this.#busy = null;
      // An unavailable store is asked again by `settleDebt`, not at once.
      if (this.#waiters.units > 0 || (this.#excess() > 0 && !this.#away)) this.#work(false);
    };
    this.#busy = work().then(end, (error: unknown) => {
      // A defect in this code: requests of this key are refused for a moment, and the process continues.
      this.#deps.onFault(error);
      this.#turnAway();
      end();
    });
    return this.#busy;
  }

  /** Takes units until no request waits, or the store has none left. Then returns units that exceed the maximum to hold because of refunds. */
  async #attend(ahead: boolean): Promise<void> {
    if (this.#unknown !== null && !(await this.#recover())) return;
    if ((this.#debt.owed > 0 || (this.#away && this.#deps.settings.debtMax > 0)) && !(await this.#payDebt())) return;
    let retries = 0;
    let most = Number.POSITIVE_INFINITY;
    while ((this.#waiters.units > 0 || ahead) && !this.#stopped) {
      this.#roll();
      // The next lease may have brought one to a new window. Look it up before a later mark replaces its own.
      if (this.#unknown !== null && !(await this.#recover())) return;
      const window = this.#window;
      if (window === null) return this.#waiters.turnAway("unavailable");
      const units = Math.min(this.#wanted(), most, this.policy.limit);
      if (units < 1) {
        this.#serve();
        if (ahead && this.#excess() === 0) await this.#readAgain(window);
        break;
      }
      const sentAt = this.#deps.monotonic();
      const mark = this.#mark(units);
      const take = await this.#deps.limits.take(this.#counter(window), this.policy.limit, units, mark);
      if (take.outcome === "unknown") return this.#loseTouch({ kind: "take", window, units, mark });
      this.#hear(take.at, sentAt);
      if (this.#window !== window) continue;
      this.#see(take, take.outcome === "granted" ? units : 0);
      this.#othersReserved = take.reserved ?? 0;
      if (take.outcome === "granted") {
        this.#unspent += units;
        this.#careful = false;
        ahead = false;
        retries = 0;
        most = Number.POSITIVE_INFINITY;
        const quarter = Math.floor(Math.min(this.#unspent, this.#holdMax(take.leased - units, this.#own.perSecond())) / 4);
        // With fewer than four units, the next block is fetched when it is needed.
        this.#prefetchAt = quarter || -1;
        this.#serve();
      } else {
        this.#refusals.short(take.left, this.#deps.monotonic() + this.#deps.settings.askAgainMs);
        this.#waiters.turnAwayMoreThan(this.#unspent + take.left);
        if (take.left === 0 || ++retries > retriesMax) return this.#exhaust();
        most = take.left;
      }
    }
    const excess = this.#excess();
    if (excess > 0) await this.#giveBack(excess);
    await this.#takeNext();
  }

  async #takeNext(): Promise<void> {
    const window = this.#window;
    if (window === null || this.#stopped || this.#careful) return;
    if (window.endMs - this.#now > this.#deps.settings.bridgeSeconds * 1_000) return;
    const next = windowAt(this.policy.windowSeconds, window.endMs);
    let sentAt = this.#deps.monotonic();
    // Look it up now: the store may be unavailable when the next window has begun.
    const found = await this.#next.recover();
    if (found?.outcome === "unknown") return this.#turnAway();
    if (found !== null) this.#hear(found.at, sentAt);
    if (this.#window !== window) return;
    sentAt = this.#deps.monotonic();
    const units = this.#holdMax(0, this.#own.perSecond());
    const taking = await this.#next.take(next, this.policy.limit, units);
    if (taking === null) return;
    const { take, change, isLate } = taking;
    if (take.outcome === "unknown") return this.#loseTouch(change);
    this.#hear(take.at, sentAt);
    if (!isLate || this.#window?.start !== next.start || take.outcome !== "granted") return;
    this.#unspent += units;
    this.#see(take, units);
  }

  /** Whether to refill the block and read the counter: regularly, because the store may become unavailable, and others lease units too. */
  #isOutdated(now: number): boolean {
    const afterMs = refillAfterMs(this.policy, this.#filledTo - this.#unspent);
    return this.#deps.settings.bridgeSeconds > 0 && now - this.#heardAt >= afterMs;
  }

  async #readAgain(window: Window): Promise<void> {
    const sentAt = this.#deps.monotonic();
    try {
      const reading = await this.#deps.limits.read(this.#counter(window), this.#deps.owner);
      this.#hear(reading.at, sentAt);
      if (this.#window === window) this.#see(reading, 0);
    } catch {
      this.#turnAway();
    }
  }

  /** Units missing for all waiting requests, or for a full block if that is more. */
  #wanted(): number {
    const hold = this.#careful ? 1 : this.#holdMax(this.#leased ?? 0, this.#own.perSecond());
    return Math.max(this.#waiters.units, hold) - this.#unspent;
  }

  #holdMax(leased: number, pace: number): number {
    return holdMax(this.policy, leased, this.#deps.settings, pace);
  }

  /**
   * Unspent units beyond the maximum to hold. The maximum is computed from spent units: with `leased`, the last block before the limit would
   * be excess at once. It assumes the full rate, so that a pace that falls for a moment causes no return.
   */
  #excess(): number {
    // `changePolicy` has ended the window: its units are dropped when the next one is entered.
    if (this.#waiters.units > 0 || this.#window === null) return 0;
    const spent = (this.#leased ?? 0) - this.#unspent;
    const most = Math.min(this.#holdMax(spent, this.policy.perSecond), Math.max(0, this.policy.limit - spent));
    return Math.max(0, this.#unspent - most);
  }

  #serve(): void {
    const given = this.#waiters.serve(this.#unspent, this.windowStart);
    this.#unspent -= given;
    this.#own.spent(given);
  }

  /**
   * Takes the owed units from the store, as far as the limit has room. Reads the counter first: while the store is unavailable, this leaves
   * no unknown outcome.
   *
   * @returns false while the store is unavailable.
   */
  async #payDebt(): Promise<boolean> {
    this.#roll();
    const window = this.#window;
    if (window === null) return true;
    const asked = this.#deps.monotonic();
    try {
      const { leased, at } = await this.#deps.limits.read(this.#counter(window));
      this.#hear(at, asked);
      if (this.#window === window) this.#leased = leased;
    } catch {
      this.#careful = true;
      this.#turnAway();
      return false;
    }
    for (let retries = 0; this.#window === window && this.#debt.owed > 0 && retries <= retriesMax; retries++) {
      const units = Math.min(this.#debt.owed, this.policy.limit - (this.#leased ?? 0));
      if (units < 1) {
        // Others have used up the limit: these units were admitted beyond it.
        this.#debt.writeOff(this.#debt.owed);
        break;
      }
      const sentAt = this.#deps.monotonic();
      const mark = this.#mark(0);
      const take = await this.#deps.limits.take(this.#counter(window), this.policy.limit, units, mark);
      if (take.outcome === "unknown") {
        this.#loseTouch({ kind: "debt", window, units, mark });
        return false;
      }
      this.#hear(take.at, sentAt);
      if (this.#window !== window) break;
      this.#leased = take.leased;
      if (take.outcome === "granted") this.#settled(units);
    }
    return true;
  }

  /** Pays debt with units from the store. Those that a refund has meanwhile made unnecessary can be spent. */
  #settled(units: number): void {
    this.#unspent += units - this.#debt.pay(units);
  }

  /** Call for each reply of the store. */
  #hear(at: number, sentAt: number): void {
    this.#away = false;
    this.#heardAt = this.#deps.monotonic();
    this.#deps.time.observe(at, sentAt);
    this.#roll();
  }

  #exhaust(): void {
    this.#serve();
    this.#refusals.exhausted(this.#deps.monotonic() + this.#deps.settings.askAgainMs);
    this.#waiters.turnAway("exhausted");
  }

  /** The change may be done or not. Until that is known its units count as lost, those of debt as owed, and it is never repeated. */
  #loseTouch(change: Unknown): void {
    this.#careful = true;
    if (this.#isHere(change)) {
      if (this.#leased !== null && change.kind === "take") this.#leased = Math.min(this.policy.limit, this.#leased + change.units);
      this.#unknown = change;
    }
    this.#turnAway();
  }

  /** Whether the change belongs to the current window. One of an ended window does not matter; `NextLease` keeps one of the next window. */
  #isHere(change: Unknown): boolean {
    return this.#window?.start === change.window.start;
  }

  #turnAway(): void {
    this.#away = true;
    this.#unavailableUntil = this.#deps.monotonic() + this.#deps.settings.askAgainMs;
    this.#serve();
    this.#waiters.turnAway("unavailable");
  }

  /**
   * Looks up the change whose outcome is unknown, before any other call: this also shows without risk whether the store is available.
   *
   * @returns false while the store is unavailable.
   */
  async #recover(): Promise<boolean> {
    this.#roll();
    for (let change = this.#unknown; change !== null; change = this.#unknown) {
      const sentAt = this.#deps.monotonic();
      const found = await this.#deps.limits.recover(this.#counter(change.window), change.mark);
      if (found.outcome === "unknown") {
        this.#turnAway();
        return false;
      }
      this.#hear(found.at, sentAt);
      // The window has ended meanwhile, and the next one may have brought another change.
      if (this.#unknown !== change) continue;
      this.#unknown = null;
      this.#leased = found.leased;
      this.#othersHeld = found.held ?? 0;
      const isDone = found.outcome === "done";
      // A block that was taken, or was not returned, is ours. Debt that was not taken is still owed.
      if (change.kind === "debt") this.#settled(isDone ? change.units : 0);
      else if (isDone === (change.kind === "take")) this.#unspent += change.units;
      this.#serve();
    }
    return true;
  }

  /** Subtracts the units here first, and calls the store once: a block is returned at most once. */
  async #giveBack(units: number): Promise<void> {
    const window = this.#window;
    if (window === null) return;
    this.#unspent -= units;
    // Subtract now, so that `remaining` does not change during the return.
    this.#leased = (this.#leased ?? 0) - units;
    this.#prefetchAt = -1;
    const mark = this.#mark(0);
    const sentAt = this.#deps.monotonic();
    const reply = await this.#deps.limits.giveBack(this.#counter(window), units, mark);
    if (reply.outcome === "returned") {
      this.#heardAt = this.#deps.monotonic();
      this.#deps.time.observe(reply.at, sentAt);
    }
    if (this.#window !== window) return;
    // The units were subtracted from the counter above. If they were not returned, they are lost until the outcome is looked up.
    if (reply.outcome === "returned") {
      this.#see(reply, 0);
      this.#refusals.forget();
    } else this.#leased += units;
    if (reply.outcome === "unknown") this.#unknown = { kind: "return", window, units, mark };
  }

  #counter(window: Window): LimitWindow {
    return { bucket: this.#bucket, policy: this.#name, start: window.start, expiresAt: counterEndMs(window) };
  }
}
