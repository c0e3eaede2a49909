/** Lookups of addresses: kept answers first, and one resolution per address at a time, within one budget. */

import { type Address, reverseName } from "@netfacts/address";
import { type Entry, type KeepingRules, makeEntry, type ResolutionStatus, timedOut } from "../domain/resolution.ts";
import type { SharedAnswers } from "../shared/shared-answers.ts";
import { AnswerCache, type AnswerCacheOptions, isAlive, isFailure, type Place } from "./answer-cache.ts";
import { type ForwardLookupOptions, withForward } from "./forward-lookup.ts";
import { findRecords } from "./record-search.ts";

/** What is left of a budget for the way back, where a tenth of it is more: a busy process comes late to its timers. */
const returnMs = 250;

/** With less time than this a name is not asked about again. */
const askAgainMs = 50;

export interface PtrLookupOptions extends ForwardLookupOptions, Omit<AnswerCacheOptions, "failureTtlSeconds"> {
  readonly clock: { now(): number };
  readonly rules: KeepingRules;
  /** All that one lookup may take, whatever the nameservers do. */
  readonly budgetMs: number;
  /** Queries of one lookup, with retries and over every transport. */
  readonly queriesMax: number;
  /** Resolutions at a time. */
  readonly inFlightMax: number;
  /** Asked before DNS; null: there are none. */
  readonly shared: Pick<SharedAnswers, "get" | "replace"> | null;
  /** Called when a popular answer is renewed before its end. */
  readonly onRefresh: () => void;
}

/** Why there is no newer answer. */
export type Failure = ResolutionStatus | "unavailable" | "overloaded";

export interface FoundEntry {
  readonly kind: "entry";
  readonly entry: Entry;
  /** It was kept. */
  readonly hit: boolean;
  /** Its life is over, and no newer answer is to be had. */
  readonly stale: boolean;
  /** What the attempt to renew a stale answer ended in; null where there was none. */
  readonly failure: Failure | null;
  /** Unix milliseconds: from then on the same question may have another answer. */
  readonly freshUntil: number;
  readonly queries: number;
  readonly durationMs: number;
}

/** `unavailable`: no nameserver answers; `overloaded`: too many resolutions already. */
export type LookupResult = FoundEntry | { readonly kind: "unavailable" | "overloaded" };

/** `isShared`: it was among the shared answers. */
type Resolution =
  | { readonly kind: "entry"; readonly entry: Entry; readonly queries: number; readonly isShared: boolean }
  | { readonly kind: "unavailable" };

/** What is shown to whom nobody answered in time. */
const unanswered = { status: "timeout", names: [], namesTotal: 0, ttl: null, dnssec: null, forward: [] } as const;

const noEffort = { queries: 0, durationMs: 0 };

/** A resolution that others may wait for too. */
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

  /** Within the time that is left for the answer, and within the budget of a lookup. */
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

  /** Half of the flights stay for those who wait for an answer. */
  #refresh(place: Place<Flight>, ip: Address): void {
    if (place.flight !== null || this.#inFlight >= this.#options.inFlightMax / 2) return;
    this.#options.onRefresh();
    // Requests that join it get its error.
    this.#fly(place, ip, performance.now() + this.#options.budgetMs).resolution.catch(() => {});
  }

  #fly(place: Place<Flight>, ip: Address, deadline: number): Flight {
    this.#inFlight += 1;
    // Ends in a later turn than this one, as it asks first.
    const flight: Flight = { deadline, resolution: this.#resolve(place, ip, deadline) };
    place.flight = flight;
    return flight;
  }

  /** A flight may last longer than one of those who wait for it can. */
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
      // What somebody in a hurry did not wait for is not kept from others.
      const isWhole = !isHurried || !timedOut(entry);
      if (isWhole && !this.#cache.store(place, entry, now)) shared?.replace(name, entry, known !== null);
      return { kind: "entry", entry, queries: queriesMax - bounds.allowance.left, isShared: false };
    } finally {
      this.#inFlight -= 1;
      this.#cache.land(place);
    }
  }
}

/** Who asked first may have had less time: the name is asked about again with ours. */
function isCutShort(resolution: Resolution, flight: Flight, deadline: number): boolean {
  if (resolution.kind !== "entry" || !timedOut(resolution.entry)) return false;
  return flight.deadline < deadline && performance.now() < deadline - askAgainMs;
}

/** Null: an answer, or one that fails validation. */
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
