/** What is kept of answers: as long as they live, and after that for when no newer answer is to be had (RFC 8767). */

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

/** Times are Unix milliseconds. Least recently used answers leave first. */
export class AnswerCache {
  readonly #options: AnswerCacheOptions;
  readonly #kept: LRUCache<string, KeptAnswer>;

  constructor(options: AnswerCacheOptions) {
    this.#options = options;
    const sizeCalculation = ({ entry }: KeptAnswer, name: string) => entrySize(entry, name);
    this.#kept = new LRUCache({ max: options.cacheEntriesMax, maxSize: options.cacheBytesMax, sizeCalculation });
  }

  get entries(): number {
    return this.#kept.size;
  }

  /** An estimate. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /** An answer that still lives; counts as a hit. */
  fresh(name: string, now: number): KeptAnswer | null {
    const kept = this.#kept.get(name);
    if (kept === undefined || kept.entry.expiresAt <= now) return null;
    kept.hits += 1;
    return kept;
  }

  /** An answer whose life is over, and that is shown rather than none. */
  stale(name: string, now: number): KeptAnswer | null {
    const kept = this.#kept.get(name);
    return kept !== undefined && isAnswer(kept.entry) && now < kept.entry.expiresAt + this.#options.staleMaxSeconds * 1_000 ? kept : null;
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
  store(name: string, entry: Entry, now: number): boolean {
    if (this.failed(name, entry, now) || this.#worsens(name, entry, now)) return true;
    if (entry.expiresAt > entry.storedAt) this.#kept.set(name, { entry, hits: 0, retryAt: 0 });
    else if (!isFailure(entry)) this.#kept.delete(name);
    return isFailure(entry);
  }

  /**
   * Keeps an answer that another replica got, or this one before its restart, if it is newer than what is kept.
   *
   * @returns whether it lives, and is kept.
   */
  adopt(name: string, entry: Entry, now: number): boolean {
    const kept = this.#kept.peek(name);
    if (kept !== undefined && kept.entry.storedAt >= entry.storedAt) return false;
    this.#kept.set(name, { entry, hits: 0, retryAt: 0 });
    return entry.expiresAt > now;
  }

  /** A renewal whose forward lookups fail does not replace an answer that lives, and that has them all. */
  #worsens(name: string, entry: Entry, now: number): boolean {
    const kept = this.#kept.peek(name);
    if (kept === undefined || kept.entry.expiresAt <= now || !hasFailedForward(entry) || hasFailedForward(kept.entry)) return false;
    this.#putOff(kept, now);
    return true;
  }

  #putOff(kept: KeptAnswer, now: number): void {
    kept.retryAt = now + this.#options.failureTtlSeconds * 1_000;
  }

  /** @param entry  null where no nameserver answers. @returns whether there is an answer to show in place of the failure. */
  failed(name: string, entry: Entry | null, now: number): boolean {
    if (entry !== null && !isFailure(entry)) return false;
    const kept = this.stale(name, now);
    if (kept === null) return false;
    this.#putOff(kept, now);
    return true;
  }
}

function hasFailedForward({ names }: Entry): boolean {
  return names.some(({ forward }) => forward !== null && !isAnswer(forward));
}

/** An answer that fails validation is none to pass over: what was shown before may be what somebody wants to keep alive. */
export function isFailure(entry: Entry): boolean {
  return !isAnswer(entry) && entry.dnssec !== "bogus";
}

function entrySize(entry: Entry, name: string): number {
  return entry.names.reduce(
    (sum, item) => sum + item.name.length + nameBytes + addressBytes * (item.forward?.addresses.length ?? 0),
    name.length + entryBytes,
  );
}
