/** Cache of keys by id: soft lifetime, one load at a time per key, remembered failures. A load during which the key changed is repeated. */

import { type Prefix, parsePrefix, plainPrefix } from "@netfacts/address";
import { displayKey, type KeyLimits, type KeyRecord } from "@netfacts/keys";
import { type Store, StoreError } from "@netfacts/storage";
import { LRUCache } from "lru-cache";
import { endHeaders } from "../domain/end-headers.ts";
import { PlanCache, type PlanLimits } from "./plan-cache.ts";
import type { KeyringSettings, VerifiedKey } from "./surface.ts";

/** A key of the store, prepared for checks. */
export interface CachedKey {
  readonly record: KeyRecord;
  readonly allowed: readonly Prefix[];
  readonly key: VerifiedKey;
  /** Revision of the plan's limits that `key` has. */
  readonly planRevision: string;
}

/** `away`: the store is unavailable, and no recent copy is cached. `invalid`: the record of the key or of its plan is invalid. */
export type KeyLookup = CachedKey | null | "away" | "invalid";

interface Entry {
  readonly cached: CachedKey;
  readonly loadedAt: number;
  /** Time before which the store is not asked again, if it was unavailable. */
  retryAt: number;
  /** The key may have changed since: the entry may be used only to compare secrets. */
  overtaken: boolean;
}

interface Flight {
  readonly lookup: Promise<KeyLookup>;
  /** True if the key changed after this load began, which may have read the old state. */
  readonly overtaken: { value: boolean };
}

const retryMs = 1_000;
/** Reads of one load. If the key changes during all of them, the store counts as unavailable. */
const readsMax = 10;

export class KeyCache {
  readonly #keys: Store["keys"];
  readonly #plans: PlanCache;
  readonly #settings: KeyringSettings;
  readonly #monotonic: () => number;
  readonly #entries: LRUCache<string, Entry>;
  /** Ids of failed tries (unknown id or wrong secret) → time until which the store is not asked about them again. */
  readonly #failed: LRUCache<string, number>;
  readonly #flights = new Map<string, Flight>();
  /** Whether broadcasts of changes arrive. */
  #hearsChanges = true;

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
    return this.#hearsChanges ? cacheLifetimeMs : Math.min(cacheLifetimeMs, cacheBlindMs);
  }

  /** The key as last read, however long ago: use it only to compare secrets. */
  seen(id: string): CachedKey | null {
    return this.#entries.get(id)?.cached ?? null;
  }

  /** Answers immediately, without the store, if the key was read recently. */
  lookup(id: string): CachedKey | Promise<KeyLookup> {
    const now = this.#monotonic();
    const entry = this.#entries.get(id);
    const isFresh = entry !== undefined && !entry.overtaken;
    if (isFresh && (now < entry.loadedAt + this.#lifetimeMs || now < entry.retryAt)) return entry.cached;
    return this.load(id);
  }

  /** Whether a try of this id failed recently: then another try that fails does not read the store. */
  hasFailed(id: string): boolean {
    return this.#monotonic() < (this.#failed.get(id) ?? Number.NEGATIVE_INFINITY);
  }

  fail(id: string): void {
    this.#failed.set(id, this.#monotonic() + this.#settings.unknownLifetimeMs);
  }

  /** Call when a key was written. */
  keyChanged(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.overtaken = true;
    this.#failed.delete(id);
    const flight = this.#flights.get(id);
    if (flight !== undefined) flight.overtaken.value = true;
    // The next request meets the same failure, and reports it to its caller.
    else if (entry !== undefined) this.load(id).catch(() => {});
  }

  /** Call when any key or plan may have been written. */
  anyChanged(): void {
    this.#plans.clear();
    for (const entry of this.#entries.values()) entry.overtaken = true;
    this.#failed.clear();
    for (const { overtaken } of this.#flights.values()) overtaken.value = true;
  }

  /** Call when broadcasts are lost or back: changes may have been missed. */
  broadcastsChanged(up: boolean): void {
    if (up === this.#hearsChanges) return;
    this.#hearsChanges = up;
    this.anyChanged();
  }

  /** Reads the key from the store, once for all concurrent callers. */
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
        // The key may have been changed to end it. So its previous state must not be used if the store becomes unavailable now.
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
    // Keep the same object while nothing changed: others use it as a key of their own caches.
    const isSame = before?.record.version === record.version && before.record.hash === record.hash && before.planRevision === plan.revision;
    const cached = isSame ? before : prepare(record, plan);
    // The entry is as old as its limits, which may have been read for another key shortly before.
    this.#entries.set(id, { cached, loadedAt: Math.min(now, plan.readAt), retryAt: 0, overtaken: false });
    return cached;
  }

  /** A change would have marked the entry. So while broadcasts arrive, an unmarked entry is still right. */
  #whileAway(id: string): KeyLookup {
    const now = this.#monotonic();
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.overtaken || !this.#hearsChanges || now >= entry.loadedAt + this.#settings.cacheAwayMs) return "away";
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

/** The store has only canonical CIDRs. An invalid one, edited by hand, must not open the key to every address. */
function readCidr(text: string): Prefix {
  const reading = parsePrefix(text);
  return reading.ok ? plainPrefix(reading.prefix) : { version: 4, w0: 0, w1: 0, w2: 0, w3: 0, length: 32 };
}
