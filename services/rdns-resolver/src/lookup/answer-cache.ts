/** What is kept of answers: as long as they live, and after that for when no newer answer is to be had (RFC 8767). */

import type { Address } from "@netfacts/address";
import { LRUCache } from "lru-cache";
import { type Entry, isAnswer } from "../domain/resolution.ts";

/** A kept name or address and its bookkeeping, besides its characters: an estimate for the bound of the cache. */
const nameBytes = 160;
const addressBytes = 32;
const entryBytes = 520;

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

export interface KeptAnswer {
  readonly entry: Entry;
  hits: number;
  /** Unix milliseconds; 0: no attempt has failed. */
  retryAt: number;
}

/** An address in a form that a `Map` finds fast. */
export type CacheKey = number | string;

/** A small integer for IPv4: the engine needs no memory for it, and looks at no other to find it. */
export function cacheKey({ version, w0, w1, w2, w3 }: Address): CacheKey {
  return version === 4 ? w0 | 0 : `${w0} ${w1} ${w2} ${w3}`;
}

/** Times are Unix milliseconds. Least recently used answers leave first. */
export class AnswerCache {
  readonly #options: AnswerCacheOptions;
  readonly #kept: LRUCache<CacheKey, KeptAnswer>;

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
    const sizeCalculation = ({ entry }: KeptAnswer) => entrySize(entry);
    this.#kept = new LRUCache({ max: options.cacheEntriesMax, maxSize: options.cacheBytesMax, sizeCalculation });
  }

  get entries(): number {
    return this.#kept.size;
  }

  /** An estimate. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /** An answer that still lives, which counts as a hit, or one whose life is over and that is shown rather than none. */
  find(key: CacheKey, now: number): KeptAnswer | null {
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    if (isAlive(kept, now)) kept.hits += 1;
    else if (!this.#isShown(kept, now)) return null;
    return kept;
  }

  /** An answer that is shown rather than none. */
  stale(key: CacheKey, now: number): KeptAnswer | null {
    const kept = this.#kept.get(key);
    return kept !== undefined && this.#isShown(kept, now) ? kept : null;
  }

  #isShown({ entry }: KeptAnswer, now: number): boolean {
    return isAnswer(entry) && now < entry.expiresAt + this.#options.staleMaxSeconds * 1_000;
  }

  /** True once it is time to renew a popular answer, unless that failed a moment ago. */
  isDue({ entry, hits, retryAt }: KeptAnswer, now: number): boolean {
    const part = ((entry.expiresAt - entry.storedAt) * this.#options.refreshPercent) / 100;
    return hits >= popularHits && entry.expiresAt - now < part && retryAt <= now;
  }

  /**
   * A failure does not replace an answer that can be shown; it only puts the next attempt off. An answer that may not be kept ends the one before.
   *
   * @returns whether what was known of the name before still counts.
   */
  store(key: CacheKey, entry: Entry, now: number): boolean {
    if (this.failed(key, entry, now) || (hasFailedForward(entry) && this.#worsens(key, now))) return true;
    if (entry.expiresAt > entry.storedAt) this.#kept.set(key, { entry, hits: 0, retryAt: 0 });
    else if (!isFailure(entry)) this.#kept.delete(key);
    return isFailure(entry);
  }

  /**
   * Keeps an answer that another replica got, or this one before its restart, if it is newer than what is kept.
   *
   * @returns whether it lives, and is kept.
   */
  adopt(key: CacheKey, entry: Entry, now: number): boolean {
    const kept = this.#kept.peek(key);
    if (kept !== undefined && kept.entry.storedAt >= entry.storedAt) return false;
    this.#kept.set(key, { entry, hits: 0, retryAt: 0 });
    return entry.expiresAt > now;
  }

  /** A renewal whose forward lookups fail does not replace an answer that lives, and that has them all. */
  #worsens(key: CacheKey, now: number): boolean {
    const kept = this.#kept.peek(key);
    if (kept === undefined || kept.entry.expiresAt <= now || hasFailedForward(kept.entry)) return false;
    this.#putOff(kept, now);
    return true;
  }

  #putOff(kept: KeptAnswer, now: number): void {
    kept.retryAt = now + this.#options.failureTtlSeconds * 1_000;
  }

  /** @param entry  null where no nameserver answers. @returns whether there is an answer to show in place of the failure. */
  failed(key: CacheKey, entry: Entry | null, now: number): boolean {
    if (entry !== null && !isFailure(entry)) return false;
    const kept = this.stale(key, now);
    if (kept === null) return false;
    this.#putOff(kept, now);
    return true;
  }
}

export function isAlive({ entry }: KeptAnswer, now: number): boolean {
  return entry.expiresAt > now;
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
