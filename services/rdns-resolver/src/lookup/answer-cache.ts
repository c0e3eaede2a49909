/**
 * What is known of each address, in one place: its answer, as long as it lives, and after that for when no newer answer is to be had
 * (RFC 8767); and the resolution that is under way.
 */

import type { Address } from "@netfacts/address";
import { type Entry, isAnswer, isOfFuture } from "../domain/resolution.ts";
import { Addressed, AddressTable } from "./address-table.ts";
import { type Linked, RecencyList } from "./recency.ts";

/** A kept name or address and its bookkeeping, besides its characters: an estimate for the bound of the cache. */
const nameBytes = 160;
const addressBytes = 32;
const entryBytes = 360;

/** Who is asked for so often within its life is likely to be asked for again after it. */
const popularHits = 2;

export interface AnswerCacheOptions {
  readonly cacheEntriesMax: number;
  readonly cacheBytesMax: number;
  /** For so long after its end an answer is shown when there is no newer one; 0: never. */
  readonly staleMaxSeconds: number;
  /** After a failure the next attempt waits for so long, where there is an answer to show. */
  readonly failureTtlSeconds: number;
  /** The last part of its life, in percent, in which a popular answer is renewed; 0: none is. */
  readonly refreshPercent: number;
}

/** What is known of one address. The cache alone changes it, but for the flight. */
export class Place<Flight> extends Addressed implements Linked<Place<Flight>> {
  /** Null: there is only a flight. */
  entry: Entry | null = null;
  bytes = 0;
  hits = 0;
  /** Unix milliseconds; 0: no attempt has failed. */
  retryAt = 0;
  /** The resolution that is under way. */
  flight: Flight | null = null;
  older: Place<Flight> | null = null;
  newer: Place<Flight> | null = null;
}

/** Times are Unix milliseconds. Least recently used answers leave first; flights stay until they end. */
export class AnswerCache<Flight> {
  readonly #options: AnswerCacheOptions;
  /** Those with an answer or a flight. */
  readonly #places = new AddressTable<Place<Flight>>();
  /** Those with an answer. */
  readonly #kept = new RecencyList<Place<Flight>>();
  #entries = 0;
  #bytes = 0;

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
  }

  get entries(): number {
    return this.#entries;
  }

  /** An estimate. */
  get bytes(): number {
    return this.#bytes;
  }

  find(ip: Address): Place<Flight> | null {
    return this.#places.find(ip);
  }

  /** A place for the flight of an address that has none; `land` it when the flight has ended. */
  open(ip: Address): Place<Flight> {
    const place = new Place<Flight>(ip);
    this.#places.add(place);
    return place;
  }

  /** The flight has ended. */
  land(place: Place<Flight>): void {
    place.flight = null;
    if (place.entry === null) this.#places.delete(place);
  }

  /** An answer that still lives, which counts as a hit, or one whose life is over and that is shown rather than none. */
  use(place: Place<Flight>, now: number): Entry | null {
    const { entry } = place;
    if (entry === null) return null;
    this.#kept.touch(place);
    if (isAlive(entry, now)) place.hits += 1;
    else if (!this.#isShown(entry, now)) return null;
    return entry;
  }

  /** An answer that is shown rather than none. */
  stale(place: Place<Flight>, now: number): Entry | null {
    const { entry } = place;
    if (entry === null || !this.#isShown(entry, now)) return null;
    this.#kept.touch(place);
    return entry;
  }

  #isShown(entry: Entry, now: number): boolean {
    return isAnswer(entry) && !isOfFuture(entry, now) && now < entry.expiresAt + this.#options.staleMaxSeconds * 1_000;
  }

  /** True once it is time to renew a popular answer, unless that failed a moment ago. */
  isDue(place: Place<Flight>, now: number): boolean {
    const { entry, hits } = place;
    if (entry === null) return false;
    const part = ((entry.expiresAt - entry.storedAt) * this.#options.refreshPercent) / 100;
    return hits >= popularHits && entry.expiresAt - now < part && !this.isPutOff(place, now);
  }

  /** An attempt has failed a moment ago. A time that is farther away is of a clock that was set back since. */
  isPutOff({ retryAt }: Place<Flight>, now: number): boolean {
    return retryAt > now && retryAt <= now + this.#options.failureTtlSeconds * 1_000;
  }

  /**
   * A failure does not replace an answer that can be shown; it only puts the next attempt off. An answer that may not be kept ends the one before.
   *
   * @returns whether what was known of the name before still counts.
   */
  store(place: Place<Flight>, entry: Entry, now: number): boolean {
    if (this.failed(place, entry, now) || (hasFailedForward(entry) && this.#worsens(place, now))) return true;
    if (entry.expiresAt > entry.storedAt) this.#keep(place, entry);
    else if (!isFailure(entry)) this.#forget(place);
    return isFailure(entry);
  }

  /**
   * Keeps an answer that another replica got, or this one before its restart, if it is newer than what is kept, or that is of the future.
   *
   * @returns whether it lives, and is kept.
   */
  adopt(place: Place<Flight>, entry: Entry, now: number): boolean {
    const { entry: kept } = place;
    if (kept !== null && !isOfFuture(kept, now) && kept.storedAt >= entry.storedAt) return false;
    this.#keep(place, entry);
    return isAlive(entry, now);
  }

  /** @param entry  null where no nameserver answers. @returns whether there is an answer to show in place of the failure. */
  failed(place: Place<Flight>, entry: Entry | null, now: number): boolean {
    if (entry !== null && !isFailure(entry)) return false;
    if (this.stale(place, now) === null) return false;
    this.#putOff(place, now);
    return true;
  }

  /** A renewal whose forward lookups fail does not replace an answer that lives, and that has them all. */
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
    // It alone would push out all others.
    if (bytes > cacheBytesMax) return;
    place.entry = entry;
    place.bytes = bytes;
    this.#kept.add(place);
    this.#entries += 1;
    this.#bytes += bytes;
    while (this.#entries > cacheEntriesMax || this.#bytes > cacheBytesMax) {
      // There is one: what is counted is in the list.
      const oldest = this.#kept.oldest!;
      this.#forget(oldest);
      if (oldest.flight === null) this.#places.delete(oldest);
    }
  }

  /** Its answer goes. Whoever calls sees to a place that has no flight either. */
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

/** An answer that fails validation is none to pass over: what was shown before may be what somebody wants to keep alive. */
export function isFailure(entry: Entry): boolean {
  return !isAnswer(entry) && entry.dnssec !== "bogus";
}

function entrySize(entry: Entry): number {
  return entry.names.reduce(
    (sum, item) => sum + item.name.length + nameBytes + addressBytes * (item.forward?.addresses.length ?? 0),
    entryBytes,
  );
}
