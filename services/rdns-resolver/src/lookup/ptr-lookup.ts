/** Lookups of addresses: kept answers first, and one resolution per address at a time, within one budget. */

import { type Address, reverseName } from "@netfacts/address";
import { type Entry, type KeepingRules, makeEntry, type ResolutionStatus, timedOut } from "../domain/resolution.ts";
import type { SharedAnswers } from "../shared/shared-answers.ts";
import { type AddressLookupOptions, lookupAddress } from "./address-lookup.ts";
import { AnswerCache, type AnswerCacheOptions, type CacheKey, cacheKey, isAlive, isFailure, type KeptAnswer } from "./answer-cache.ts";

/** What is left of a budget for the way back, where a tenth of it is more: a busy process comes late to its timers. */
const returnMs = 250;

/** With less time than this a name is not asked about again. */
const askAgainMs = 50;

export interface PtrLookupOptions extends AddressLookupOptions, Omit<AnswerCacheOptions, "failureTtlSeconds"> {
  readonly clock: { now(): number };
  readonly rules: KeepingRules;
  /** All that one lookup may take, whatever the nameservers do. */
  readonly budgetMs: number;
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
  readonly #cache: AnswerCache;
  readonly #flights = new Map<CacheKey, Flight>();

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
    return this.#flights.size;
  }

  /** Within the time that is left for the answer, and within the budget of a lookup. */
  async lookup(ip: Address, timeLeftMs: number): Promise<LookupResult> {
    const key = cacheKey(ip);
    const now = this.#options.clock.now();
    const kept = this.#cache.find(key, now);
    if (kept !== null && isAlive(kept, now)) {
      if (this.#cache.isDue(kept, now)) this.#refresh(key, ip);
      return { kind: "entry", entry: kept.entry, hit: true, stale: false, failure: null, freshUntil: kept.entry.expiresAt, ...noEffort };
    }
    if (kept !== null && kept.retryAt > now) return staleResult(kept, null, noEffort);

    const started = performance.now();
    const budgetMs = Math.min(this.#options.budgetMs, timeLeftMs - Math.min(returnMs, timeLeftMs / 10));
    const deadline = started + budgetMs;
    let resolution: Resolution | { readonly kind: "overloaded" };
    for (;;) {
      const known = this.#flights.get(key);
      if (known === undefined && this.#flights.size >= this.#options.inFlightMax) {
        resolution = { kind: "overloaded" };
        break;
      }
      const flight = known ?? this.#fly(key, ip, deadline);
      resolution = await (flight.deadline > deadline ? this.#within(flight, deadline) : flight.resolution);
      if (!isCutShort(resolution, flight, deadline)) break;
    }
    const effort = { queries: resolution.kind === "entry" ? resolution.queries : 0, durationMs: performance.now() - started };
    const failure = failureOf(resolution);
    const instead = failure === null ? null : this.#cache.stale(key, this.#options.clock.now());
    if (instead !== null) return staleResult(instead, failure, effort);
    if (resolution.kind !== "entry") return resolution;
    const { entry, isShared } = resolution;
    return { kind: "entry", entry, hit: isShared, stale: false, failure: null, freshUntil: entry.expiresAt, ...effort };
  }

  /** Half of the places stay for those who wait for an answer. */
  #refresh(key: CacheKey, ip: Address): void {
    if (this.#flights.has(key) || this.#flights.size >= this.#options.inFlightMax / 2) return;
    this.#options.onRefresh();
    // Requests that join it get its error.
    this.#fly(key, ip, performance.now() + this.#options.budgetMs).resolution.catch(() => {});
  }

  #fly(key: CacheKey, ip: Address, deadline: number): Flight {
    // Ends in a later turn than this one, as it asks first.
    const flight: Flight = { deadline, resolution: this.#resolve(key, ip, deadline) };
    this.#flights.set(key, flight);
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

  async #resolve(key: CacheKey, ip: Address, deadline: number): Promise<Resolution> {
    const { budgetMs, clock, rules, shared } = this.#options;
    const name = reverseName(ip);
    const isHurried = deadline - performance.now() < budgetMs / 2;
    try {
      const known = shared === null ? null : await shared.get(name, deadline);
      if (known !== null && this.#cache.adopt(key, known, clock.now())) return { kind: "entry", entry: known, queries: 0, isShared: true };
      const found = await lookupAddress(ip, name, deadline, this.#options);
      const now = clock.now();
      if (found.kind === "unavailable") {
        this.#cache.failed(key, null, now);
        return found;
      }
      const entry = makeEntry(found.finding, now, rules);
      // What somebody in a hurry did not wait for is not kept from others.
      const isWhole = !isHurried || !timedOut(entry);
      if (isWhole && !this.#cache.store(key, entry, now)) shared?.replace(name, entry, known !== null);
      return { kind: "entry", entry, queries: found.queries, isShared: false };
    } finally {
      this.#flights.delete(key);
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
  { entry, retryAt }: KeptAnswer,
  failure: Failure | null,
  effort: { readonly queries: number; readonly durationMs: number },
): FoundEntry {
  return { kind: "entry", entry, hit: true, stale: true, failure, freshUntil: retryAt, ...effort };
}
