/**
 * The cache by address: the answer until it expires, and after that for a time without a newer answer (RFC 8767); and the resolution in
 * progress.
 */

import type { Address } from "@netfacts/address";
import { type Entry, isAnswer, isOfFuture } from "../domain/resolution.ts";
import { Addressed, AddressTable } from "./address-table.ts";
import { type Linked, RecencyList } from "./recency.ts";

/** Estimated bytes of a cached name, address and entry, without their characters, for the limit of the cache. */
const nameBytes = 160;
const addressBytes = 32;
const entryBytes = 360;

/** An address with this many hits before its answer expires will probably be asked for again. */
const popularHits = 2;

export interface AnswerCacheOptions {
  readonly cacheEntriesMax: number;
  readonly cacheBytesMax: number;
  /** Time after its end for which an answer is shown if there is no newer one; 0: never. */
  readonly staleMaxSeconds: number;
  /** Time until the next attempt after a failure, if there is an answer to show. */
  readonly failureTtlSeconds: number;
  /** Last part of its lifetime, in percent, in which a popular answer is renewed; 0: never. */
  readonly refreshPercent: number;
}

/** The cached state of one address. Only the cache changes it, except for the flight. */
export class Place<Flight> extends Addressed implements Linked<Place<Flight>> {
  /** Null: there is only a flight. */
  entry: Entry | null = null;
  bytes = 0;
  hits = 0;
  /** Unix milliseconds; 0: no attempt has failed. */
  retryAt = 0;
  /** The resolution in progress. */
  flight: Flight | null = null;
  older: Place<Flight> | null = null;
  newer: Place<Flight> | null = null;
}

/** Times are Unix milliseconds. Least recently used answers are dropped first; flights stay until they end. */
export class AnswerCache<Flight> {
  readonly #options: AnswerCacheOptions;
  /** Addresses with an answer or a flight. */
  readonly #places = new AddressTable<Place<Flight>>();
  /** Addresses with an answer. */
  readonly #kept = new RecencyList<Place<Flight>>();
  #entries = 0;
  #bytes = 0;

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
  }

  get entries(): number {
    return this.#entries;
  }

  /** Estimated memory of the answers. */
  get bytes(): number {
    return this.#bytes;
  }

  find(ip: Address): Place<Flight> | null {
    return this.#places.find(ip);
  }

  /** Makes a place for the flight of an address without a place. Call `land` when the flight has ended. */
  open(ip: Address): Place<Flight> {
    const place = new Place<Flight>(ip);
    this.#places.add(place);
    return place;
  }

  /** Call when the flight has ended. */
  land(place: Place<Flight>): void {
    place.flight = null;
    if (place.entry === null) this.#places.delete(place);
  }

  /** A valid answer, which counts as a hit, or an expired one that may be shown if there is no newer one. */
  use(place: Place<Flight>, now: number): Entry | null {
    const { entry } = place;
    if (entry === null) return null;
    this.#kept.touch(place);
    if (isAlive(entry, now)) place.hits += 1;
    else if (!this.#isShown(entry, now)) return null;
    return entry;
  }

  /** An answer that may be shown if there is no newer one. */
  stale(place: Place<Flight>, now: number): Entry | null {
    const { entry } = place;
    if (entry === null || !this.#isShown(entry, now)) return null;
    this.#kept.touch(place);
    return entry;
  }

  #isShown(entry: Entry, now: number): boolean {
    return isAnswer(entry) && !isOfFuture(entry, now) && now < entry.expiresAt + this.#options.staleMaxSeconds * 1_000;
  }

  /** Whether to renew a popular answer now; false if that failed recently. */
  isDue(place: Place<Flight>, now: number): boolean {
    const { entry, hits } = place;
    if (entry === null) return false;
    const part = ((entry.expiresAt - entry.storedAt) * this.#options.refreshPercent) / 100;
    return hits >= popularHits && entry.expiresAt - now < part && !this.isPutOff(place, now);
  }

  /** Whether an attempt failed recently. A later time comes from a clock that was set back since, and is ignored. */
  isPutOff({ retryAt }: Place<Flight>, now: number): boolean {
    return retryAt > now && retryAt <= now + this.#options.failureTtlSeconds * 1_000;
  }

  /**
   * Stores the outcome of a resolution. A failure does not replace an answer that can be shown, but only delays the next attempt. An answer
   * that must not be cached removes the previous one.
   *
   * @returns whether the previous state of the name is still valid.
   */
  store(place: Place<Flight>, entry: Entry, now: number): boolean {
    if (this.failed(place, entry, now) || (hasFailedForward(entry) && this.#worsens(place, now))) return true;
    if (entry.expiresAt > entry.storedAt) this.#keep(place, entry);
    else if (!isFailure(entry)) this.#forget(place);
    return isFailure(entry);
  }

  /**
   * Caches an answer of another replica, or of this one before its restart, if it is newer than the cached one, or if that is of the future.
   *
   * @returns whether it was cached and has not expired.
   */
  adopt(place: Place<Flight>, entry: Entry, now: number): boolean {
    const { entry: kept } = place;
    if (kept !== null && !isOfFuture(kept, now) && kept.storedAt >= entry.storedAt) return false;
    this.#keep(place, entry);
    return isAlive(entry, now);
  }

  /** @param entry  null: no nameserver answers. @returns whether it is a failure and there is an answer to show instead. */
  failed(place: Place<Flight>, entry: Entry | null, now: number): boolean {
    if (entry !== null && !isFailure(entry)) return false;
    if (this.stale(place, now) === null) return false;
    this.#putOff(place, now);
    return true;
  }

  /** A renewal with failed forward lookups does not replace a valid answer whose forward lookups all succeeded. */
  #worsens(place: Place<Flight>, now: number): boolean {
    const { entry } = place;
    if (entry === null || !isAlive(entry, now) || hasFailedForward(entry)) return false;
    this.#putOff(place, now);
    return true;
  }

  #putOff(place: Place<Flight>, now: number): void {
    place.retryAt = now + this.#options.failureTtlSeconds * 1_000;
  }

  #keep(place: Place<Flight>, entry: Entry): void {
    this.#forget(place);
    const bytes = entrySize(entry);
    const { cacheEntriesMax, cacheBytesMax } = this.#options;
    // This answer alone exceeds the limit.
    if (bytes > cacheBytesMax) return;
    place.entry = entry;
    place.bytes = bytes;
    this.#kept.add(place);
    this.#entries += 1;
    this.#bytes += bytes;
    while (this.#entries > cacheEntriesMax || this.#bytes > cacheBytesMax) {
      // The list is not empty: it has every counted entry.
      const oldest = this.#kept.oldest!;
      this.#forget(oldest);
      if (oldest.flight === null) this.#places.delete(oldest);
    }
  }

  /** Removes the answer. The caller must delete a place that has no flight either. */
  #forget(place: Place<Flight>): void {
    if (place.entry === null) return;
    this.#kept.remove(place);
    this.#entries -= 1;
    this.#bytes -= place.bytes;
    place.entry = null;
    place.hits = 0;
    place.retryAt = 0;
  }
}

export function isAlive(entry: Entry, now: number): boolean {
  return entry.expiresAt > now && !isOfFuture(entry, now);
}

function hasFailedForward({ names }: Entry): boolean {
  return names.some(({ forward }) => forward !== null && !isAnswer(forward));
}

/** An answer that fails validation is no failure: it must replace the previous answer, which an attacker may want to keep. */
export function isFailure(entry: Entry): boolean {
  return !isAnswer(entry) && entry.dnssec !== "bogus";
}

function entrySize(entry: Entry): number {
  return entry.names.reduce(
    (sum, item) => sum + item.name.length + nameBytes + addressBytes * (item.forward?.addresses.length ?? 0),
    entryBytes,
  );
}
