/** PTR lookups: kept answers first, one resolution per name at a time, and aliases followed to their end. */

import { LRUCache } from "lru-cache";
import { canAsk } from "../dns/message.ts";
import type { NameserverPool } from "../dns/pool.ts";
import { followChain } from "../domain/ptr-chain.ts";
import { type Entry, type Finding, type KeepingRules, makeEntry, negativeTtl } from "../domain/resolution.ts";

/** Aliases between a question and its PTR records. RFC 2317 needs one; circles end here. */
const aliasesMax = 8;

/** What is left of a budget for the way back, where a tenth of it is more: a busy process comes late to its timers. */
const returnMs = 250;

/** With less time than this a name is not asked about again. */
const askAgainMs = 50;

/** A kept name and its bookkeeping, besides its characters: an estimate for the bound of the cache. */
const nameBytes = 96;
const entryBytes = 400;

export interface PtrLookupOptions {
  readonly pool: Pick<NameserverPool, "ask">;
  readonly clock: { now(): number };
  readonly rules: KeepingRules;
  readonly cacheEntriesMax: number;
  readonly cacheBytesMax: number;
  /** Resolutions at a time. */
  readonly inFlightMax: number;
}

/** `unavailable`: no nameserver answers; `overloaded`: too many resolutions already. */
export type LookupResult =
  | { readonly kind: "entry"; readonly entry: Entry; readonly hit: boolean; readonly attempts: number; readonly durationMs: number }
  | { readonly kind: "unavailable" | "overloaded" };

type Resolution = { readonly kind: "entry"; readonly entry: Entry; readonly attempts: number } | { readonly kind: "unavailable" };

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

  /** The PTR records of a name (without the dot at its end), within the time that is left for the answer. */
  async lookup(name: string, budgetMs: number): Promise<LookupResult> {
    const kept = this.#cache.get(name);
    if (kept !== undefined && kept.expiresAt > this.#options.clock.now()) {
      return { kind: "entry", entry: kept, hit: true, attempts: 0, durationMs: 0 };
    }
    const started = performance.now();
    const deadline = started + budgetMs - Math.min(returnMs, budgetMs / 10);
    for (;;) {
      const known = this.#flights.get(name);
      if (known === undefined && this.#flights.size >= this.#options.inFlightMax) return { kind: "overloaded" };
      const flight = known ?? this.#fly(name, deadline);
      const resolution = await (flight.deadline > deadline ? this.#within(flight, deadline) : flight.resolution);
      if (resolution.kind === "unavailable") return resolution;
      // Who asked first may have had less time: the name is asked about again with ours.
      const cutShort = resolution.entry.status === "timeout" && flight.deadline < deadline && performance.now() < deadline - askAgainMs;
      if (!cutShort) return { ...resolution, hit: false, durationMs: performance.now() - started };
    }
  }

  #fly(name: string, deadline: number): Flight {
    // Ends in a later turn than this one, as it asks first.
    const flight: Flight = { deadline, resolution: this.#resolve(name, deadline) };
    this.#flights.set(name, flight);
    return flight;
  }

  /** A flight may last longer than one of those who wait for it can. */
  async #within(flight: Flight, deadline: number): Promise<Resolution> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Resolution>((resolve) => {
      const giveUp = () => resolve({ kind: "entry", entry: this.#entry({ status: "timeout", names: [], ttl: null }), attempts: 0 });
      timer = setTimeout(giveUp, deadline - performance.now());
    });
    try {
      return await Promise.race([flight.resolution, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #resolve(name: string, deadline: number): Promise<Resolution> {
    try {
      const found = await this.#find(name, deadline);
      if (found === "unavailable") return { kind: "unavailable" };
      const entry = this.#entry(found.finding);
      if (entry.expiresAt > entry.storedAt) this.#cache.set(name, entry);
      return { kind: "entry", entry, attempts: found.attempts };
    } finally {
      this.#flights.delete(name);
    }
  }

  #entry(finding: Finding): Entry {
    return makeEntry(finding, this.#options.clock.now(), this.#options.rules);
  }

  /** Resolvers follow aliases themselves; where one stops early, the rest is asked for by further questions. */
  async #find(name: string, deadline: number): Promise<{ finding: Finding; attempts: number } | "unavailable"> {
    let asked = name;
    let aliases = 0;
    let aliasTtl = Number.POSITIVE_INFINITY;
    let attempts = 0;
    const end = (status: Finding["status"], ttl: number | null, names: Finding["names"] = []) => ({
      finding: { status, names, ttl: ttl === null ? null : Math.min(ttl, aliasTtl) },
      attempts,
    });
    for (;;) {
      const outcome = await this.#options.pool.ask(asked, deadline);
      attempts += outcome.attempts;
      if (outcome.kind === "unavailable") return "unavailable";
      if (outcome.kind === "failed") return end(outcome.status, null);

      const { answer } = outcome;
      const chain = followChain(asked, answer.records, aliasesMax - aliases);
      aliases += chain.aliases;
      aliasTtl = Math.min(aliasTtl, chain.ttl);
      if (chain.broken) return end("servfail", null);
      if (chain.names.length > 0) return end("ok", Math.min(...chain.names.map(({ ttl }) => ttl)), chain.names);
      // The code of an answer with aliases is that of the last name (RFC 6604).
      if (answer.rcode !== 0) return end("nxdomain", negativeTtl(answer.soa));
      if (chain.aliases === 0 || answer.soa !== null) return end("nodata", negativeTtl(answer.soa));
      if (!canAsk(chain.end)) return end("servfail", null);
      asked = chain.end;
    }
  }
}

function entrySize(entry: Entry, name: string): number {
  return entry.names.reduce((sum, item) => sum + item.name.length + nameBytes, name.length + entryBytes);
}
