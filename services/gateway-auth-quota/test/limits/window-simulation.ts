/** Gateways on one store in bad weather, as windows begin and end, in virtual time: every unit that is admitted or given back is booked here. */

import { setImmediate as immediate } from "node:timers/promises";
import { jest } from "@jest/globals";
import fc from "../../../../test/support/properties.ts";
import { type Admission, createLimiter, type Decision, type LimitedKey, type Limiter } from "../../src/limits/index.ts";
import { limitedKey } from "../support/limited-keys.ts";
import { calm, FaultyLimits, type Weather } from "./faulty-limits.ts";

type Ending = "answered" | "refused" | "withdrawn" | "open";

export type Command =
  /** Requests at once. */
  | { readonly kind: "burst"; readonly gateway: number; readonly count: number; readonly units: number; readonly ending: Ending }
  /** Requests one after the other, to one gateway or to all by turns. */
  | { readonly kind: "load"; readonly gateway: number | null; readonly count: number; readonly pauseMs: number; readonly units: number }
  | { readonly kind: "reserve"; readonly gateway: number; readonly units: number; readonly atLeast: number; readonly keep: number }
  | { readonly kind: "settle"; readonly answered: boolean }
  | { readonly kind: "pass"; readonly ms: number }
  /** Until so long before a window ends. */
  | { readonly kind: "edge"; readonly beforeMs: number }
  | { readonly kind: "weather"; readonly weather: Weather }
  | { readonly kind: "policy"; readonly rate: number; readonly month: number; readonly windowSeconds: number }
  | { readonly kind: "restart"; readonly gateway: number };

export interface Scenario {
  readonly seed: number;
  readonly gateways: number;
  readonly windowSeconds: number;
  readonly rate: number;
  readonly month: number;
  readonly bridgeSeconds: number;
  /** From the start to the end of the month. */
  readonly monthEndsInMs: number;
  readonly commands: readonly Command[];
  /** Whether the length of the window changes with the policy. What was leased of the rate by the old one may be lost then. */
  readonly lengths: boolean;
  /** Units beyond the limit that each gateway may admit in each window while the store is away. */
  readonly debtMax: number;
  /** From the end of the faults to the end of the gateways. */
  readonly calmMs: number;
}

const gateway = fc.nat(3);
const units = fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 2, max: 8 }) });
const share = fc.constantFrom(0, 0, 10, 30);
const rates = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 60, max: 2_000 }));
const months = fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 300, max: 20_000 }));
const weathers: fc.Arbitrary<Weather> = fc.oneof(
  fc.record({ wayMsMax: fc.constantFrom(5, 100, 300), lost: share, mute: share, late: share, failsAtOnce: fc.boolean() }),
  fc.record({ wayMsMax: fc.constant(5), lost: fc.constant(100), mute: fc.constant(0), late: fc.constant(0), failsAtOnce: fc.boolean() }),
  fc.record({ wayMsMax: fc.constant(5), lost: fc.constant(0), mute: fc.constant(100), late: fc.constant(0), failsAtOnce: fc.boolean() }),
);
const commands: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("burst" as const),
      gateway,
      count: fc.integer({ min: 1, max: 30 }),
      units,
      ending: fc.constantFrom<Ending>("answered", "answered", "refused", "withdrawn", "open"),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("load" as const),
      gateway: fc.oneof(gateway, fc.constant(null)),
      count: fc.integer({ min: 1, max: 60 }),
      pauseMs: fc.constantFrom(10, 60, 240),
      units,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("reserve" as const),
      gateway,
      units: fc.integer({ min: 1, max: 300 }),
      atLeast: fc.integer({ min: 1, max: 300 }),
      keep: fc.nat(100),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("settle" as const), answered: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(20, 200, 501, 1_300, 2_600, 5_100, 9_900) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("edge" as const), beforeMs: fc.integer({ min: 1, max: 700 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("weather" as const), weather: fc.oneof(weathers, fc.constant(calm)) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("policy" as const), rate: rates, month: months, windowSeconds: fc.constantFrom(10, 20, 5) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const), gateway }) },
);

export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.nat(),
  gateways: fc.integer({ min: 1, max: 4 }),
  windowSeconds: fc.constant(10),
  rate: rates,
  month: months,
  bridgeSeconds: fc.constantFrom(15, 15, 3, 0),
  monthEndsInMs: fc.integer({ min: 1, max: 40_000 }),
  commands: fc.array(commands, { minLength: 3, maxLength: 30, size: "max" }),
  lengths: fc.constantFrom(false, false, false, true),
  debtMax: fc.constantFrom(0, 0, 0, 25),
  calmMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3_000 })),
});

/** What became of one history. */
export interface Outcome {
  /** Broken promises, in words; empty when all were kept. */
  readonly faults: readonly string[];
  readonly admissions: number;
  /** Whether the month has ended within it. */
  readonly monthEnded: boolean;
}

/** What was admitted and not refunded in one window. */
interface Book {
  readonly policy: "rate" | "month";
  readonly start: number;
  readonly endMs: number;
  net: number;
}

interface Open {
  readonly limiter: Limiter;
  readonly admission: Admission;
  readonly keep: number | null;
}

const monthEnd = Date.UTC(2027, 0, 1);
/** A window may be told wrong by half of the way to the store and back. */
const clockErrorMs = 600;
/** Of a gateway of which nothing is asked: those that follow from what was under way, and those of the sweep. A loop makes thousands. */
const callsMax = 40;
const callsPerSecondMax = 12;
/** No promise to wait may last longer. */
const patienceMs = 20_000;

export class Simulation {
  readonly #scenario: Scenario;
  readonly #store: FaultyLimits;
  readonly #gateways: Limiter[] = [];
  readonly #books = new Map<string, Book>();
  readonly #faults = new Set<string>();
  readonly #open: Open[] = [];
  #underWay = 0;
  /** What all gateways together may admit beyond the limit. */
  #debtMax = 0;
  #admissions = 0;
  #key: LimitedKey;

  /** Timers and the clock must be faked. */
  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    jest.setSystemTime(monthEnd - scenario.monthEndsInMs);
    this.#store = new FaultyLimits(() => Date.now(), random(scenario.seed));
    this.#key = limitedKey({ rate: scenario.rate, windowSeconds: scenario.windowSeconds, month: scenario.month });
    for (let i = 0; i < scenario.gateways; i++) this.#gateways.push(this.#limiter());
  }

  async run(): Promise<Outcome> {
    for (const command of this.#scenario.commands) await this.#do(command);
    this.#store.weather = calm;
    await this.#pass(this.#scenario.calmMs);
    if (this.#scenario.calmMs > 1_500) await this.#expectAdmission();
    await this.#stop(this.#gateways);
    this.#compare("after the end");
    this.#store.arrive();
    this.#compare("after late requests have arrived");
    const faults = [...this.#faults, ...this.#store.violations];
    return { faults, admissions: this.#admissions, monthEnded: Date.now() >= monthEnd };
  }

  async #do(command: Command): Promise<void> {
    if (command.kind === "pass") return this.#idle(command.ms);
    if (command.kind === "edge") {
      const windowMs = this.#scenario.windowSeconds * 1_000;
      return this.#pass((2 * windowMs - (Date.now() % windowMs) - command.beforeMs) % windowMs);
    }
    if (command.kind === "weather") this.#store.weather = command.weather;
    else if (command.kind === "policy")
      this.#key = limitedKey({ ...command, windowSeconds: this.#scenario.lengths ? command.windowSeconds : this.#scenario.windowSeconds });
    else if (command.kind === "burst")
      for (let i = 0; i < command.count; i++) this.#request(this.#at(command.gateway), command.units, command.ending);
    else if (command.kind === "load")
      for (let i = 0; i < command.count; i++) {
        this.#request(this.#at(command.gateway ?? i), command.units, "answered");
        await this.#pass(command.pauseMs);
      }
    else if (command.kind === "reserve") this.#reserve(this.#at(command.gateway), command);
    else if (command.kind === "settle") for (const open of this.#open.splice(0)) this.#settle(open, command.answered);
    else {
      const { weather } = this.#store;
      this.#store.weather = calm;
      const index = command.gateway % this.#gateways.length;
      await this.#stop([this.#gateways[index] as Limiter]);
      this.#gateways[index] = this.#limiter();
      this.#store.weather = weather;
    }
    await immediate();
  }

  /** Nobody asks for anything: what gateways do then they do by the sweep, four times a second. */
  async #idle(ms: number): Promise<void> {
    const before = this.#store.calls;
    await this.#pass(ms);
    const calls = this.#store.calls - before;
    if (calls > this.#gateways.length * (callsMax + (ms / 1_000) * callsPerSecondMax)) this.#faults.add(`${calls} calls in ${ms} ms`);
  }

  #limiter(): Limiter {
    const { bridgeSeconds, debtMax } = this.#scenario;
    this.#debtMax += debtMax;
    return createLimiter({ store: { limits: this.#store }, clock: { monotonic: () => Date.now() }, settings: { bridgeSeconds, debtMax } });
  }

  #at(index: number): Limiter {
    // There is at least one.
    return this.#gateways[index % this.#gateways.length] as Limiter;
  }

  #request(limiter: Limiter, units: number, ending: Ending): void {
    this.#ask(limiter.admit(this.#key, { month: units, rate: units }), (admission) => {
      this.#book("rate", admission.charge.rateWindowStart, units);
      if (ending === "open") this.#open.push({ limiter, admission, keep: null });
      else if (ending === "withdrawn") this.#withdraw(limiter, admission);
      else this.#settle({ limiter, admission, keep: null }, ending === "answered");
    });
  }

  #reserve(limiter: Limiter, { units, atLeast, keep }: { units: number; atLeast: number; keep: number }): void {
    this.#ask(limiter.reserveMonth(this.#key, units, Math.min(units, atLeast)), (admission) => {
      this.#open.push({ limiter, admission, keep });
    });
  }

  #ask(asked: Decision | Promise<Decision>, then: (admission: Admission) => void): void {
    const askedAt = Date.now();
    const decide = (decision: Decision): void => {
      this.#underWay -= 1;
      if (!decision.admitted) return;
      this.#admissions += 1;
      const { month, monthWindowStart, rate, rateWindowStart } = decision.charge;
      if (month > 0) this.#book("month", monthWindowStart, month);
      if (
        rate > 0 &&
        !this.#scenario.lengths &&
        ((rateWindowStart + this.#scenario.windowSeconds) * 1_000 < askedAt - clockErrorMs ||
          rateWindowStart * 1_000 > Date.now() + clockErrorMs)
      )
        this.#faults.add(`admitted in a window of another time, ${rateWindowStart * 1_000 - askedAt} ms`);
      then(decision);
    };
    this.#underWay += 1;
    if (asked instanceof Promise) void asked.then(decide);
    else decide(asked);
  }

  #withdraw(limiter: Limiter, admission: Admission): void {
    const { month, monthWindowStart, rate, rateWindowStart } = admission.charge;
    limiter.withdraw(admission);
    this.#book("month", monthWindowStart, -month);
    this.#book("rate", rateWindowStart, -rate);
  }

  /** Refused requests give back the month, and all but one unit of the rate. */
  #settle({ limiter, admission, keep }: Open, answered: boolean): void {
    const { month, monthWindowStart, rate, rateWindowStart } = admission.charge;
    const kept = keep === null ? (answered ? month : 0) : Math.min(month, keep);
    limiter.settle(admission, keep === null ? answered : kept);
    this.#book("month", monthWindowStart, kept - month);
    if (keep !== null || answered || rate === 1) return;
    limiter.returnRate(admission, rate - 1);
    this.#book("rate", rateWindowStart, 1 - rate);
  }

  #book(policy: "rate" | "month", start: number, units: number): void {
    const id = `${policy} ${start}`;
    const endMs =
      policy === "rate"
        ? (start + this.#scenario.windowSeconds) * 1_000
        : start * 1_000 < monthEnd - 1
          ? monthEnd
          : Number.POSITIVE_INFINITY;
    const book = this.#books.get(id) ?? { policy, start, endMs, net: 0 };
    this.#books.set(id, book);
    book.net += units;
    const counter = this.#store.counters.get(id);
    const leased = counter?.leased ?? 0;
    if (book.net > leased + this.#debtMax) this.#faults.add(`${id}: admitted ${book.net} of ${leased}`);
    if (leased > (counter?.limit ?? 0)) this.#faults.add(`${id}: leased ${leased}, limit ${counter?.limit}`);
  }

  /** Nothing is leaked, and nothing returned twice, in windows that have not ended. */
  #compare(when: string): void {
    for (const [id, { window, leased }] of this.#store.counters) {
      if (window.policy === "rate" && this.#scenario.lengths) continue;
      const windowMs = window.policy === "rate" ? this.#scenario.windowSeconds * 1_000 : 28 * 86_400_000;
      if (
        window.start * 1_000 + windowMs <= Date.now() ||
        (window.policy === "month" && window.start * 1_000 < monthEnd && Date.now() >= monthEnd)
      )
        continue;
      const net = this.#books.get(id)?.net ?? 0;
      if (leased > net || net > leased + this.#debtMax) this.#faults.add(`${id}, ${when}: leased ${leased}, admitted ${net}`);
    }
  }

  /** With a store that answers, whoever finds room in both windows all the time is admitted. */
  async #expectAdmission(): Promise<void> {
    const isFull = (policy: string, startMs: number, limit: number): boolean =>
      (this.#store.counters.get(`${policy} ${startMs / 1_000}`)?.leased ?? 0) >= limit;
    const before = this.#admissions;
    for (let tries = 0; tries < 8; tries++) {
      const { rate, month } = this.#key.limits;
      const windowMs = rate.windowSeconds * 1_000;
      if (isFull("rate", Math.floor(Date.now() / windowMs) * windowMs, rate.limit)) return;
      if (isFull("month", Date.now() < monthEnd ? Date.UTC(2026, 11, 1) : monthEnd, month.limit)) return;
      this.#request(this.#at(0), 1, "answered");
      await this.#pass(400);
    }
    if (this.#admissions === before) this.#faults.add("nothing is admitted though there is room");
  }

  async #stop(gateways: readonly Limiter[]): Promise<void> {
    for (let waited = 0; this.#underWay > 0; waited += 50) {
      if (waited > patienceMs) throw new Error("a request waits without end");
      await this.#pass(50);
    }
    for (const open of this.#open.filter(({ limiter }) => gateways.includes(limiter))) this.#settle(open, true);
    this.#open.splice(0, this.#open.length, ...this.#open.filter(({ limiter }) => !gateways.includes(limiter)));
    let isStopped = false;
    void Promise.all(gateways.map((limiter) => limiter.stop())).then(() => {
      isStopped = true;
    });
    for (let waited = 0; !isStopped; waited += 5) {
      if (waited > patienceMs) throw new Error("a gateway stops without end");
      await this.#pass(5);
    }
  }

  /** Timer by timer, and all that follows from each. */
  async #pass(ms: number): Promise<void> {
    let isOver = false;
    setTimeout(() => {
      isOver = true;
    }, ms);
    await immediate();
    while (!isOver) {
      jest.advanceTimersToNextTimer();
      await immediate();
    }
  }
}

/** Numbers from 0 to below 1, the same ones for each seed. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
