/** Lookups of addresses: kept answers first, and one resolution per address at a time, within one budget. */

import { type Address, reverseName } from "@netfacts/address";
import { LRUCache } from "lru-cache";
import { type Entry, type KeepingRules, makeEntry, timedOut } from "../domain/resolution.ts";
import { type AddressLookupOptions, lookupAddress } from "./address-lookup.ts";

/** What is left of a budget for the way back, where a tenth of it is more: a busy process comes late to its timers. */
const returnMs = 250;

/** With less time than this a name is not asked about again. */
const askAgainMs = 50;

/** A kept name or address and its bookkeeping, besides its characters: an estimate for the bound of the cache. */
const nameBytes = 160;
const addressBytes = 32;
const entryBytes = 440;

export interface PtrLookupOptions extends AddressLookupOptions {
  readonly clock: { now(): number };
  readonly rules: KeepingRules;
  readonly cacheEntriesMax: number;
  readonly cacheBytesMax: number;
  /** All that one lookup may take, whatever the nameservers do. */
  readonly budgetMs: number;
  /** Resolutions at a time. */
  readonly inFlightMax: number;
}

/** `unavailable`: no nameserver answers; `overloaded`: too many resolutions already. */
export type LookupResult =
  | { readonly kind: "entry"; readonly entry: Entry; readonly hit: boolean; readonly queries: number; readonly durationMs: number }
  | { readonly kind: "unavailable" | "overloaded" };

type Resolution = { readonly kind: "entry"; readonly entry: Entry; readonly queries: number } | { readonly kind: "unavailable" };

/** What is shown to whom nobody answered in time. */
const unanswered = { status: "timeout", names: [], namesTotal: 0, ttl: null, dnssec: null, forward: [] } as const;

/** A resolution that others may wait for too. */
interface Flight {
  readonly deadline: number;
  readonly resolution: Promise<Resolution>;
}

export class PtrLookup {
  readonly #options: PtrLookupOptions;
  readonly #cache: LRUCache<string, Entry>;
  readonly #flights = new Map<string, Flight>();

  constructor(options: PtrLookupOptions) {
    this.#options = options;
    this.#cache = new LRUCache({ max: options.cacheEntriesMax, maxSize: options.cacheBytesMax, sizeCalculation: entrySize });
  }

  get cachedEntries(): number {
    return this.#cache.size;
  }

  get inFlight(): number {
    return this.#flights.size;
  }

  /** Within the time that is left for the answer, and within the budget of a lookup. */
  async lookup(ip: Address, timeLeftMs: number): Promise<LookupResult> {
    const name = reverseName(ip);
    const kept = this.#cache.get(name);
    if (kept !== undefined && kept.expiresAt > this.#options.clock.now()) {
      return { kind: "entry", entry: kept, hit: true, queries: 0, durationMs: 0 };
    }
    const started = performance.now();
    const budgetMs = Math.min(this.#options.budgetMs, timeLeftMs - Math.min(returnMs, timeLeftMs / 10));
    const deadline = started + budgetMs;
    for (;;) {
      const known = this.#flights.get(name);
      if (known === undefined && this.#flights.size >= this.#options.inFlightMax) return { kind: "overloaded" };
      const flight = known ?? this.#fly(name, ip, deadline);
      const resolution = await (flight.deadline > deadline ? this.#within(flight, deadline) : flight.resolution);
      if (resolution.kind === "unavailable") return resolution;
      // Who asked first may have had less time: the name is asked about again with ours.
      const cutShort = timedOut(resolution.entry) && flight.deadline < deadline && performance.now() < deadline - askAgainMs;
      if (!cutShort) return { ...resolution, hit: false, durationMs: performance.now() - started };
    }
  }

  #fly(name: string, ip: Address, deadline: number): Flight {
    // Ends in a later turn than this one, as it asks first.
    const flight: Flight = { deadline, resolution: this.#resolve(name, ip, deadline) };
    this.#flights.set(name, flight);
    return flight;
  }

  /** A flight may last longer than one of those who wait for it can. */
  async #within(flight: Flight, deadline: number): Promise<Resolution> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Resolution>((resolve) => {
      const giveUp = () =>
        resolve({ kind: "entry", entry: makeEntry(unanswered, this.#options.clock.now(), this.#options.rules), queries: 0 });
      timer = setTimeout(giveUp, deadline - performance.now());
    });
    try {
      return await Promise.race([flight.resolution, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #resolve(name: string, ip: Address, deadline: number): Promise<Resolution> {
    const isHurried = deadline - performance.now() < this.#options.budgetMs / 2;
    try {
      const found = await lookupAddress(ip, deadline, this.#options);
      if (found.kind === "unavailable") return found;
      const entry = makeEntry(found.finding, this.#options.clock.now(), this.#options.rules);
      // What somebody in a hurry did not wait for is not kept from others.
      const isCutShort = isHurried && timedOut(entry);
      if (entry.expiresAt > entry.storedAt && !isCutShort) this.#cache.set(name, entry);
      return { kind: "entry", entry, queries: found.queries };
    } finally {
      this.#flights.delete(name);
    }
  }
}

function entrySize(entry: Entry, name: string): number {
  return entry.names.reduce(
    (sum, item) => sum + item.name.length + nameBytes + addressBytes * (item.forward?.addresses.length ?? 0),
    name.length + entryBytes,
  );
}
