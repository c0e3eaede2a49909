/** One bucket's share of one policy: units leased from the store in blocks, spent here without asking (docs/design/protocols.md#limits-by-leases). */

import type { LimitMark, LimitReading, LimitWindow } from "@netfacts/storage";
import { holdMax, type Policy, type PolicyName, resetSeconds, type Window, windowAt } from "../domain/limit-windows.ts";
import { atMost } from "./at-most.ts";
import { counterEndMs, refillAfterMs } from "./counter-times.ts";
import { Debt } from "./debt.ts";
import type { LeaseDeps, LeaseStanding } from "./lease-deps.ts";
import { NextLease, type Unknown } from "./next-lease.ts";
import { OthersPace } from "./others-pace.ts";
import { OwnPace } from "./own-pace.ts";
import { type Spending, Waiters } from "./waiters.ts";

/** How often a take that did not fit is tried again with what is left. */
const retriesMax = 3;
/** A window entered later than this after its begin may have been used by others, whose blocks we do not know. */
const freshMs = 1_000;

export class Lease {
  policy: Policy;
  readonly #bucket: string;
  readonly #name: PolicyName;
  readonly #deps: LeaseDeps;
  /** Units of the window that are leased here for batches, and may come back. */
  readonly #reserved: () => number;
  #hasReserved = false;
  /** The same at other gateways, as far as they have told lately. */
  #othersReserved = 0;
  /** Of `#leased`: what others held unspent when they told last. */
  #othersHeld = 0;

  #window: Window | null = null;
  /** Store time of the last look at the clock: within the window. */
  #now = 0;
  #unspent = 0;
  #heardAt = Number.NEGATIVE_INFINITY;
  /** The store's counter as last seen; null until a reply for this window, unless it began under our eyes. */
  #leased: number | null = null;
  /** At or below this many unspent units the next block is fetched ahead. */
  #prefetchAt = -1;
  /** Unspent when the counter was seen last. */
  #filledTo = 0;

  readonly #own: OwnPace;
  readonly #others: OthersPace;
  readonly #waiters: Waiters;
  /** One take or return in flight at a time. */
  #busy: Promise<void> | null = null;
  #reading: Promise<void> | null = null;
  #exhaustedUntil = 0;
  /** What the store had left when it had too few units for a request, and until when it is not asked for more than that. */
  #short = { left: 0, until: 0 };
  #unavailableUntil = 0;
  /** After an unknown outcome blocks are no larger than what is asked for, so that a flapping store loses few units. */
  #careful = false;
  /** Since the last unknown outcome nothing was heard of the store. */
  #away = false;
  /** Counted as lost until it is looked up; none is in another window. */
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

  /** Unix seconds of the window that spent units belong to; -1 before the first. */
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

  /** Long enough for its units to be of more use elsewhere: three of its usual pauses, as what it holds is to last for the next ones. */
  get isIdle(): boolean {
    const { idleReturnMs, idleReturnMsMax, bridgeSeconds } = this.#deps.settings;
    const pause = bridgeSeconds === 0 ? 0 : 1_000 / (this.#own.recent ?? Number.POSITIVE_INFINITY);
    return this.idleMs >= Math.max(idleReturnMs, Math.min(3 * pause, idleReturnMsMax));
  }

  /** Whether `standing` can tell what remains. */
  get isKnown(): boolean {
    this.#roll();
    return this.#leased !== null;
  }

  /** Nothing here that the store does not know. */
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

  /** The request path while a block has units: no store, no waiting. */
  trySpend(units: number): boolean {
    this.#roll();
    this.#usedAt = this.#deps.monotonic();
    // Who waits came first.
    if (this.#unspent < units || this.#waiters.units > 0 || this.#stopped) return false;
    this.#unspent -= units;
    this.#own.spent(units);
    if ((this.#unspent <= this.#prefetchAt || this.#isOutdated()) && this.#mayAsk()) this.#work(true);
    return true;
  }

  /** @param waitMs  how long to wait for the store at most. */
  spend(units: number, waitMs: number): Promise<Spending> | Spending {
    if (this.trySpend(units)) return this.windowStart;
    const spending = this.#ask(units, waitMs);
    if (this.#deps.settings.debtMax === 0) return spending;
    return spending instanceof Promise ? spending.then((late) => this.#orOnDebt(units, late)) : this.#orOnDebt(units, spending);
  }

  /** Fetches a block of a window that nothing is known of, for a request that another lease lets wait. */
  fetchAhead(): void {
    if (!this.isKnown && this.#mayAsk()) this.#work(true);
  }

  #ask(units: number, waitMs: number): Promise<Spending> | Spending {
    if (this.#stopped || this.#window === null) return "unavailable";
    if (units > this.policy.limit) return "exhausted";
    if (this.#busy === null) {
      const now = this.#deps.monotonic();
      if (now < this.#unavailableUntil) return "unavailable";
      if (now < this.#exhaustedUntil) return "exhausted";
      if (now < this.#short.until && units > this.#unspent + this.#short.left) return "exhausted";
    }
    // Where debt is allowed nobody waits for a store that was away a moment ago: asking for it goes on beside.
    if (this.#away && this.#deps.settings.debtMax > 0) {
      this.#work(false);
      return "unavailable";
    }
    const waiting = this.#waiters.join(units, waitMs);
    if (waiting === null) return "unavailable";
    this.#work(false);
    return waiting;
  }

  /** Units that were not to be had of the store are spent all the same, while the debt allows. */
  #orOnDebt(units: number, spending: Spending): Spending {
    if (spending !== "unavailable" || this.#stopped) return spending;
    this.#roll();
    if (this.#window === null || units > this.#left()) return spending;
    return this.#debt.incur(units) ? this.#window.start : spending;
  }

  /** Units that were spent in the window of this start and not used after all; an ended window needs them no more. */
  refund(units: number, windowStart: number): void {
    this.#roll();
    if (units === 0 || windowStart !== this.windowStart) return;
    this.#unspent += units - this.#debt.forgive(units);
    this.#serve();
    if (this.#excess() > 0) this.#work(false);
  }

  /** Makes sure that something is known of the window, by reading at most once; within the time, or not at all. */
  async look(waitMs: number): Promise<void> {
    this.#roll();
    if (this.#leased !== null || this.#window === null || this.#deps.monotonic() < this.#unavailableUntil) return;
    this.#reading ??= this.#read(this.#window).finally(() => {
      this.#reading = null;
    });
    await atMost(this.#reading, waitMs);
  }

  standing(): LeaseStanding {
    this.#roll();
    const { limit } = this.policy;
    const now = this.#deps.time.now();
    if (now === null || this.#window === null) return { limit, remaining: null, resetsInSeconds: null, resetsAt: null };
    const remaining = this.#leased === null ? null : this.#left();
    return { limit, remaining, resetsInSeconds: resetSeconds(this.#window, now), resetsAt: this.#window.endMs };
  }

  /** What the limit leaves as far as is known, with what is here unspent and without what is owed; below 0 where the limit was lowered. */
  get headroom(): number {
    return this.policy.limit - (this.#leased ?? 0) + this.#unspent - this.#debt.owed;
  }

  /**
   * The same for callers, so that what they are told at one gateway differs little from what they are told at the next: with what others
   * hold unspent, less what they are likely to have spent since they told. Never less than what is here.
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
   * Others are told of units that may come back, so that none of them takes the limit for used up meanwhile, and of what is held.
   *
   * @param units  the change of what is held, if it is done.
   */
  #mark(units: number): LimitMark {
    const mark = { ...this.#deps.nextMark(), held: Math.max(0, this.#unspent + units - this.#waiters.units) };
    const reserved = this.#reserved();
    this.#hasReserved ||= reserved > 0;
    return this.#hasReserved ? { ...mark, reserved } : mark;
  }

  /** The counter was read. @param own  what of its growth since then is ours. */
  #see({ leased, held = 0 }: Omit<LimitReading, "at">, own: number): void {
    // What others have spent since then.
    this.#others.observe(leased - held - ((this.#leased ?? 0) - this.#othersHeld) - own);
    this.#leased = leased;
    this.#othersHeld = held;
    this.#filledTo = this.#unspent + Math.max(0, own);
  }

  #left(): number {
    return Math.max(0, Math.min(this.policy.limit, this.headroom));
  }

  /** Asks the store again for what is owed or unknown, once it may be asked. */
  settleDebt(): void {
    this.#roll();
    if ((this.#debt.owed > 0 || this.#unknown !== null) && this.#mayAsk()) this.#work(false);
  }

  /** Gives every unspent unit back, unless something is in flight, which means that it is not idle. */
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

  /** No more takes; waiters are turned away; what is unspent goes back. */
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

  /** Enters the window of the store's time. Units of an ended window are worth nothing: they are dropped, not returned. */
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
    this.#debt.enterWindow(next.start);
    // A window that began under our eyes: nothing is leased in it as far as we know.
    this.#leased = early?.leased ?? (window !== null && next.startMs >= window.endMs && now - next.startMs < freshMs ? 0 : null);
    this.#prefetchAt = Math.floor(this.#unspent / 4) || -1;
    this.#filledTo = this.#unspent;
    this.#exhaustedUntil = 0;
    this.#short.until = 0;
  }

  /** Another limit or window length for the same bucket. */
  changePolicy(policy: Policy): void {
    if (policy.windowSeconds !== this.policy.windowSeconds) this.#window = null;
    this.policy = policy;
    this.#exhaustedUntil = 0;
    this.#short.until = 0;
  }

  #mayAsk(): boolean {
    return this.#busy === null && this.#deps.monotonic() >= Math.max(this.#exhaustedUntil, this.#unavailableUntil);
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
      // A fault of ours: this key is refused for a moment, and the process goes on.
      this.#deps.onFault(error);
      this.#turnAway();
      end();
    });
    return this.#busy;
  }

  /** Takes until nobody waits, or nothing is to be had; then gives back what refunds brought beyond the hold. */
  async #attend(ahead: boolean): Promise<void> {
    if (this.#unknown !== null && !(await this.#recover())) return;
    if ((this.#debt.owed > 0 || (this.#away && this.#deps.settings.debtMax > 0)) && !(await this.#payDebt())) return;
    let retries = 0;
    let most = Number.POSITIVE_INFINITY;
    while ((this.#waiters.units > 0 || ahead) && !this.#stopped) {
      this.#roll();
      // A window that has just begun may have brought one, which no later mark may hide.
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
        // A block of fewer than four is fetched when it is needed.
        this.#prefetchAt = quarter || -1;
        this.#serve();
      } else {
        this.#short = { left: take.left, until: this.#deps.monotonic() + this.#deps.settings.askAgainMs };
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
    // At once, as the store may be away when it has begun.
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

  /** A block is filled up each second, as nobody knows when the store goes away; and what others lease is seen. */
  #isOutdated(): boolean {
    const afterMs = refillAfterMs(this.policy, this.#filledTo - this.#unspent);
    return this.#deps.settings.bridgeSeconds > 0 && this.#usedAt - this.#heardAt >= afterMs;
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

  /** Enough for all who wait; a full block where that is more. */
  #wanted(): number {
    const hold = this.#careful ? 1 : this.#holdMax(this.#leased ?? 0, this.#own.perSecond());
    return Math.max(this.#waiters.units, hold) - this.#unspent;
  }

  #holdMax(leased: number, pace: number): number {
    return holdMax(this.policy, leased, this.#deps.settings, pace);
  }

  /**
   * Measured against what is spent: against `leased`, the last block before the limit would count as excess at once. And at whatever pace:
   * a pace that falls for a moment makes no return.
   */
  #excess(): number {
    // What is here of another window is dropped when the next one is entered.
    if (this.#waiters.units > 0 || this.#window === null) return 0;
    return Math.max(0, this.#unspent - this.#holdMax((this.#leased ?? 0) - this.#unspent, this.policy.perSecond));
  }

  #serve(): void {
    const given = this.#waiters.serve(this.#unspent, this.windowStart);
    this.#unspent -= given;
    this.#own.spent(given);
  }

  /**
   * Takes what is owed, where the limit has room for it. The store is asked for the counter first, so that no outcome is left unknown
   * while it does not answer.
   *
   * @returns false while the store is away.
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
        // Others used it up meanwhile: these units were admitted beyond the limit.
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

  /** What was refunded meanwhile is owed no more: there are so many units to spend. */
  #settled(units: number): void {
    this.#unspent += units - this.#debt.pay(units);
  }

  /** A reply has come. */
  #hear(at: number, sentAt: number): void {
    this.#away = false;
    this.#heardAt = this.#deps.monotonic();
    this.#deps.time.observe(at, sentAt);
    this.#roll();
  }

  #exhaust(): void {
    this.#serve();
    this.#exhaustedUntil = this.#deps.monotonic() + this.#deps.settings.askAgainMs;
    this.#waiters.turnAway("exhausted");
  }

  /** The units may be taken or not: until that is known they count as lost, those of debt as owed, and are never asked for again. */
  #loseTouch(change: Unknown): void {
    this.#careful = true;
    if (this.#isHere(change)) {
      if (this.#leased !== null && change.kind === "take") this.#leased = Math.min(this.policy.limit, this.#leased + change.units);
      this.#unknown = change;
    }
    this.#turnAway();
  }

  /** Of an ended window it is of no interest, and one to come keeps its own. */
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
   * Looks up the change whose outcome is unknown, before anything else is asked: it also tells whether the store is back, at no risk.
   *
   * @returns false while the store is away.
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
      // The window has ended meanwhile, and the next one may have brought another.
      if (this.#unknown !== change) continue;
      this.#unknown = null;
      this.#leased = found.leased;
      this.#othersHeld = found.held ?? 0;
      const isDone = found.outcome === "done";
      // A block that was taken is ours; one that was not returned is still ours; debt that was not taken is still owed.
      if (change.kind === "debt") this.#settled(isDone ? change.units : 0);
      else if (isDone === (change.kind === "take")) this.#unspent += change.units;
      this.#serve();
    }
    return true;
  }

  /** Subtracts here first, and asks once: a block is given back at most one time. */
  async #giveBack(units: number): Promise<void> {
    const window = this.#window;
    if (window === null) return;
    this.#unspent -= units;
    // At once, so that what remains looks the same while the return is under way.
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
    // Ours left the counter above. What was not returned is lost until that is looked up.
    if (reply.outcome === "returned") {
      this.#see(reply, 0);
      this.#exhaustedUntil = 0;
      this.#short.until = 0;
    } else this.#leased += units;
    if (reply.outcome === "unknown") this.#unknown = { kind: "return", window, units, mark };
  }

  async #read(window: Window): Promise<void> {
    const sentAt = this.#deps.monotonic();
    try {
      const { leased, at } = await this.#deps.limits.read(this.#counter(window));
      this.#deps.time.observe(at, sentAt);
      if (this.#window === window) this.#leased ??= leased;
    } catch {
      this.#unavailableUntil = this.#deps.monotonic() + this.#deps.settings.askAgainMs;
    }
  }

  #counter(window: Window): LimitWindow {
    return { bucket: this.#bucket, policy: this.#name, start: window.start, expiresAt: counterEndMs(window) };
  }
}
