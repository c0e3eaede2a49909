/** Lookups of addresses: from the cache first, else by one resolution per address at a time, within one budget. */

import { type Address, reverseName } from "@netfacts/address";
import { type Entry, type KeepingRules, makeEntry, type ResolutionStatus, timedOut } from "../domain/resolution.ts";
import type { SharedAnswers } from "../shared/shared-answers.ts";
import { AnswerCache, type AnswerCacheOptions, isAlive, isFailure, type Place } from "./answer-cache.ts";
import { type ForwardLookupOptions, withForward } from "./forward-lookup.ts";
import { findRecords } from "./record-search.ts";

/** Most time of a budget that is reserved for the reply, else a tenth of it: timers of a busy process are late. */
const returnMs = 250;

/** A name is not asked about again if less time than this is left. */
const askAgainMs = 50;

export interface PtrLookupOptions extends ForwardLookupOptions, Omit<AnswerCacheOptions, "failureTtlSeconds"> {
  readonly clock: { now(): number };
  readonly rules: KeepingRules;
  /** Time limit of one lookup, in ms. */
  readonly budgetMs: number;
  /** Most queries of one lookup, including retries, over all transports. */
  readonly queriesMax: number;
  /** Most concurrent resolutions. */
  readonly inFlightMax: number;
  /** Shared cache, which is asked before DNS; null: none. */
  readonly shared: Pick<SharedAnswers, "get" | "replace"> | null;
  /** Called when a popular answer is renewed before its end. */
  readonly onRefresh: () => void;
}

/** Reason why there is no newer answer. */
export type Failure = ResolutionStatus | "unavailable" | "overloaded";

export interface FoundEntry {
  readonly kind: "entry";
  readonly entry: Entry;
  /** It was cached. */
  readonly hit: boolean;
  /** It has expired, and there is no newer answer. */
  readonly stale: boolean;
  /** Failure of the attempt to renew a stale answer; null: there was no attempt. */
  readonly failure: Failure | null;
  /** Time from which the same question may have another answer, Unix milliseconds. */
  readonly freshUntil: number;
  readonly queries: number;
  readonly durationMs: number;
}

/** `unavailable`: no nameserver answers. `overloaded`: too many resolutions are in progress. */
export type LookupResult = FoundEntry | { readonly kind: "unavailable" | "overloaded" };

/** `isShared`: it comes from the shared cache. */
type Resolution =
  | { readonly kind: "entry"; readonly entry: Entry; readonly queries: number; readonly isShared: boolean }
  | { readonly kind: "unavailable" };

/** The finding if no answer came in time. */
const unanswered = { status: "timeout", names: [], namesTotal: 0, ttl: null, dnssec: null, forward: [] } as const;

const noEffort = { queries: 0, durationMs: 0 };

/** A resolution in progress, for which several lookups may wait. */
interface Flight {
  readonly deadline: number;
  readonly resolution: Promise<Resolution>;
}

export class PtrLookup {
  readonly #options: PtrLookupOptions;
  readonly #cache: AnswerCache<Flight>;
  #inFlight = 0;

  constructor(options: PtrLookupOptions) {
    this.#options = options;
    this.#cache = new AnswerCache({ ...options, failureTtlSeconds: options.rules.failureTtlSeconds });
  }

  get cachedEntries(): number {
    return this.#cache.entries;
  }

  get cachedBytes(): number {
    return this.#cache.bytes;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Ends within the time left for the answer, and within the budget of a lookup. */
  async lookup(ip: Address, timeLeftMs: number): Promise<LookupResult> {
    const now = this.#options.clock.now();
    let place = this.#cache.find(ip);
    const kept = place === null ? null : this.#cache.use(place, now);
    if (place !== null && kept !== null) {
      if (isAlive(kept, now)) {
        if (this.#cache.isDue(place, now)) this.#refresh(place, ip);
        return { kind: "entry", entry: kept, hit: true, stale: false, failure: null, freshUntil: kept.expiresAt, ...noEffort };
      }
      if (this.#cache.isPutOff(place, now)) return staleResult(kept, place.retryAt, null, noEffort);
    }

    const started = performance.now();
    const budgetMs = Math.min(this.#options.budgetMs, timeLeftMs - Math.min(returnMs, timeLeftMs / 10));
    const deadline = started + budgetMs;
    let resolution: Resolution | { readonly kind: "overloaded" };
    for (;;) {
      let flight = place?.flight ?? null;
      if (flight === null && this.#inFlight >= this.#options.inFlightMax) {
        resolution = { kind: "overloaded" };
        break;
      }
      flight ??= this.#fly(place ?? this.#cache.open(ip), ip, deadline);
      resolution = await (flight.deadline > deadline ? this.#within(flight, deadline) : flight.resolution);
      if (!isCutShort(resolution, flight, deadline)) break;
      place = this.#cache.find(ip);
    }
    const effort = { queries: resolution.kind === "entry" ? resolution.queries : 0, durationMs: performance.now() - started };
    const failure = failureOf(resolution);
    if (failure !== null) {
      const at = this.#cache.find(ip);
      const instead = at === null ? null : this.#cache.stale(at, this.#options.clock.now());
      if (at !== null && instead !== null) return staleResult(instead, at.retryAt, failure, effort);
    }
    if (resolution.kind !== "entry") return resolution;
    const { entry, isShared } = resolution;
    return {
      kind: "entry",
      entry,
      hit: isShared,
      stale: false,
      failure: null,
      freshUntil: entry.expiresAt,
      queries: effort.queries,
      durationMs: effort.durationMs,
    };
  }

  /** Renews an answer. Half of the flights are reserved for lookups that wait. */
  #refresh(place: Place<Flight>, ip: Address): void {
    if (place.flight !== null || this.#inFlight >= this.#options.inFlightMax / 2) return;
    this.#options.onRefresh();
    // Lookups that join the flight get its error.
    this.#fly(place, ip, performance.now() + this.#options.budgetMs).resolution.catch(() => {});
  }

  #fly(place: Place<Flight>, ip: Address, deadline: number): Flight {
    this.#inFlight += 1;
    // `#resolve` waits for a reply first, so it cannot end before `place.flight` is set.
    const flight: Flight = { deadline, resolution: this.#resolve(place, ip, deadline) };
    place.flight = flight;
    return flight;
  }

  /** Waits for a flight that may last longer than this lookup. */
  async #within(flight: Flight, deadline: number): Promise<Resolution> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Resolution>((resolve) => {
      const giveUp = () =>
        resolve({
          kind: "entry",
          entry: makeEntry(unanswered, this.#options.clock.now(), this.#options.rules),
          queries: 0,
          isShared: false,
        });
      timer = setTimeout(giveUp, deadline - performance.now());
    });
    try {
      return await Promise.race([flight.resolution, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #resolve(place: Place<Flight>, ip: Address, deadline: number): Promise<Resolution> {
    const { budgetMs, clock, pool, queriesMax, rules, shared } = this.#options;
    const name = reverseName(ip);
    const isHurried = deadline - performance.now() < budgetMs / 2;
    try {
      const known = shared === null ? null : await shared.get(name, deadline);
      if (known !== null && this.#cache.adopt(place, known, clock.now()))
        return { kind: "entry", entry: known, queries: 0, isShared: true };
      const bounds = { deadline, allowance: { left: queriesMax } };
      const found = await findRecords(pool, { name, type: "PTR" }, bounds);
      if (found === "unavailable") {
        this.#cache.failed(place, null, clock.now());
        return { kind: "unavailable" };
      }
      const finding = withForward(ip, found, bounds, this.#options);
      const whole = finding instanceof Promise ? await finding : finding;
      const now = clock.now();
      const entry = makeEntry(whole, now, rules);
      // A timeout of a lookup with little time is not stored, so that others can try again.
      const isWhole = !isHurried || !timedOut(entry);
      if (isWhole && !this.#cache.store(place, entry, now)) shared?.replace(name, entry, known !== null);
      return { kind: "entry", entry, queries: queriesMax - bounds.allowance.left, isShared: false };
    } finally {
      this.#inFlight -= 1;
      this.#cache.land(place);
    }
  }
}

/** Whether the flight timed out because its first lookup had less time: then this lookup asks again. */
function isCutShort(resolution: Resolution, flight: Flight, deadline: number): boolean {
  if (resolution.kind !== "entry" || !timedOut(resolution.entry)) return false;
  return flight.deadline < deadline && performance.now() < deadline - askAgainMs;
}

/** Null: the resolution is an answer, or one that fails validation. */
function failureOf(resolution: Resolution | { readonly kind: "overloaded" }): Failure | null {
  if (resolution.kind !== "entry") return resolution.kind;
  return isFailure(resolution.entry) ? resolution.entry.status : null;
}

function staleResult(
  entry: Entry,
  retryAt: number,
  failure: Failure | null,
  effort: { readonly queries: number; readonly durationMs: number },
): FoundEntry {
  return { kind: "entry", entry, hit: true, stale: true, failure, freshUntil: retryAt, ...effort };
}
