/** Keys by id in memory: soft lifetime, single flight, remembered failures, and loads that a change overtook thrown away. */

import { type Prefix, parsePrefix, plainPrefix } from "@netfacts/address";
import { displayKey, type KeyLimits, type KeyRecord } from "@netfacts/keys";
import { type Store, StoreError } from "@netfacts/storage";
import { LRUCache } from "lru-cache";
import { endHeaders } from "../domain/end-headers.ts";
import { PlanCache, type PlanLimits } from "./plan-cache.ts";
import type { KeyringSettings, VerifiedKey } from "./surface.ts";

/** A key of the store, ready for checking. */
export interface CachedKey {
  readonly record: KeyRecord;
  readonly allowed: readonly Prefix[];
  readonly key: VerifiedKey;
  /** Of the plan's limits that are in it. */
  readonly planRevision: string;
}

/** `away`: the store does not answer, and nothing recent enough is at hand. `invalid`: the key or its plan is not valid in the store. */
export type KeyLookup = CachedKey | null | "away" | "invalid";

interface Entry {
  readonly cached: CachedKey;
  readonly loadedAt: number;
  /** With the store away: not asked again before. */
  retryAt: number;
  /** It may have changed since: it tells whose secret matches, and nothing more. */
  overtaken: boolean;
}

interface Flight {
  readonly lookup: Promise<KeyLookup>;
  /** Raised when the key changed after this load began: what it read may be the old state. */
  readonly overtaken: { value: boolean };
}

const retryMs = 1_000;
/** Reads of one load that changes may overtake; a store that changes faster than it is read counts as away. */
const readsMax = 10;

export class KeyCache {
  readonly #keys: Store["keys"];
  readonly #plans: PlanCache;
  readonly #settings: KeyringSettings;
  readonly #monotonic: () => number;
  readonly #entries: LRUCache<string, Entry>;
  /** Id that failed, unknown or of another secret → until when the store is not asked again for whoever fails. */
  readonly #failed: LRUCache<string, number>;
  readonly #flights = new Map<string, Flight>();
  /** Whether broadcasts of changes arrive. */
  #told = true;

  constructor({ keys, plans }: Pick<Store, "keys" | "plans">, settings: KeyringSettings, monotonic: () => number) {
    this.#keys = keys;
    this.#plans = new PlanCache(plans, settings.defaultLimits, monotonic);
    this.#settings = settings;
    this.#monotonic = monotonic;
    this.#entries = new LRUCache({ max: settings.cacheEntriesMax });
    this.#failed = new LRUCache({ max: settings.unknownEntriesMax });
  }

  get #lifetimeMs(): number {
    const { cacheLifetimeMs, cacheBlindMs } = this.#settings;
    return this.#told ? cacheLifetimeMs : Math.min(cacheLifetimeMs, cacheBlindMs);
  }

  /** The key as it was read at last, however long ago: good for comparing secrets. */
  seen(id: string): CachedKey | null {
    return this.#entries.get(id)?.cached ?? null;
  }

  /** Answers at once, without the store, while the key was read lately. */
  lookup(id: string): CachedKey | Promise<KeyLookup> {
    const now = this.#monotonic();
    const entry = this.#entries.get(id);
    const isFresh = entry !== undefined && !entry.overtaken;
    if (isFresh && (now < entry.loadedAt + this.#lifetimeMs || now < entry.retryAt)) return entry.cached;
    return this.load(id);
  }

  /** Whether a try of this id failed lately: one that fails again learns nothing from the store. */
  hasFailed(id: string): boolean {
    return this.#monotonic() < (this.#failed.get(id) ?? Number.NEGATIVE_INFINITY);
  }

  fail(id: string): void {
    this.#failed.set(id, this.#monotonic() + this.#settings.unknownLifetimeMs);
  }

  /** One key was written. */
  keyChanged(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.overtaken = true;
    this.#failed.delete(id);
    const flight = this.#flights.get(id);
    if (flight !== undefined) flight.overtaken.value = true;
    // A failure meets the next request too, which has somebody to tell it to.
    else if (entry !== undefined) this.load(id).catch(() => {});
  }

  /** Any key or plan may have been written. */
  anyChanged(): void {
    this.#plans.clear();
    for (const entry of this.#entries.values()) entry.overtaken = true;
    this.#failed.clear();
    for (const { overtaken } of this.#flights.values()) overtaken.value = true;
  }

  /** The broadcasts were lost or came back: whatever changed meanwhile was not told. */
  broadcastsChanged(up: boolean): void {
    if (up === this.#told) return;
    this.#told = up;
    this.anyChanged();
  }

  /** Asks the store, once for all who ask at the same time. */
  load(id: string): Promise<KeyLookup> {
    const running = this.#flights.get(id);
    if (running !== undefined) return running.lookup;
    const overtaken = { value: false };
    const lookup = this.#read(id, overtaken).finally(() => this.#flights.delete(id));
    this.#flights.set(id, { lookup, overtaken });
    return lookup;
  }

  async #read(id: string, overtaken: Flight["overtaken"]): Promise<KeyLookup> {
    for (let reads = 0; reads < readsMax; reads++) {
      overtaken.value = false;
      let record: KeyRecord | null;
      let plan: PlanLimits | null;
      try {
        record = await this.#keys.find(id);
        plan = record === null ? null : await this.#plans.limitsOf(record.plan);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (error.fault !== "invalid") return this.#whileAway(id);
        // It may have been changed to end it. So the previous state must not serve either if the store becomes unavailable now.
        this.#entries.delete(id);
        return "invalid";
      }
      if (!overtaken.value) return this.#remember(id, record, plan);
    }
    return "away";
  }

  #remember(id: string, record: KeyRecord | null, plan: PlanLimits | null): KeyLookup {
    const now = this.#monotonic();
    if (record === null || plan === null) {
      this.#entries.delete(id);
      return null;
    }
    const before = this.#entries.get(id)?.cached;
    // The same object while nothing changed: what others remember by it stays good.
    const isSame = before?.record.version === record.version && before.record.hash === record.hash && before.planRevision === plan.revision;
    const cached = isSame ? before : prepare(record, plan);
    // Limits that were read for another key shortly before are as old as they are.
    this.#entries.set(id, { cached, loadedAt: Math.min(now, plan.readAt), retryAt: 0, overtaken: false });
    return cached;
  }

  /** A change would have overtaken the entry, so while changes are told any other is as it was. */
  #whileAway(id: string): KeyLookup {
    const now = this.#monotonic();
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.overtaken || !this.#told || now >= entry.loadedAt + this.#settings.cacheAwayMs) return "away";
    entry.retryAt = Math.min(now + retryMs, entry.loadedAt + this.#settings.cacheAwayMs);
    return entry.cached;
  }
}

function prepare(record: KeyRecord, plan: PlanLimits): CachedKey {
  const { id, bucket, label, environment, allowedCidrs, createdAt, expiresAt, replacedBy, rotatedAt, validUntil } = record;
  return {
    record,
    allowed: allowedCidrs.map(readCidr),
    planRevision: plan.revision,
    key: {
      id,
      bucket,
      label,
      display: displayKey(record),
      environment,
      scopes: new Set(record.scopes),
      allowedCidrs,
      plan: record.plan,
      limits: limitsOf(record, plan.limits),
      createdAt,
      expiresAt,
      rotation: { replacedBy, validUntil },
      endHeaders: rotatedAt === null || validUntil === null ? null : endHeaders(rotatedAt, Math.min(validUntil, expiresAt ?? validUntil)),
    },
  };
}

function limitsOf({ rate, month, concurrency }: KeyRecord, plan: KeyLimits): KeyLimits {
  return { rate: rate ?? plan.rate, month: month ?? plan.month, concurrency: concurrency ?? plan.concurrency };
}

/** The store holds canonical CIDRs only; one edited by hand into nonsense must not open the key to every address. */
function readCidr(text: string): Prefix {
  const reading = parsePrefix(text);
  return reading.ok ? plainPrefix(reading.prefix) : { version: 4, w0: 0, w1: 0, w2: 0, w3: 0, length: 32 };
}
