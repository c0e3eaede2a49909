/** When prefixes were first and last seen with their origins: merges the tables of a run into the previous history. */

import { GrowableUint8, GrowableUint32, type HistoryColumns, originKind, type RoutesColumns } from "@netfacts/snapshot";
import type { MergedRoutes, OriginTimes, SeenColumn } from "./routes.ts";

/** Most origins that are kept without being announced: those of four full tables, in 100 MB. A leak of more specifics can add this many in a day. */
const historyWithdrawnMax = 4_000_000;

export interface HistoryOptions {
  /** Unix seconds of the newest table of the run; 0: no table has a time. */
  readonly now: number;
  /** Origins that are not announced are kept if they were seen within this time before that; null: always. */
  readonly keptSeconds: number | null;
  readonly withdrawnMax?: number;
}

export interface MergedHistory {
  readonly history: HistoryColumns;
  /** The times in the history for the routes of the run. */
  readonly seen: Pick<RoutesColumns, SeenColumn>;
  /** Origins in the history that are not announced now. */
  readonly withdrawn: number;
  /** Origins of the previous history that are not in this one. */
  readonly forgotten: number;
}

const noHistory: HistoryColumns = {
  v4_address: new Uint32Array(),
  v4_length: new Uint8Array(),
  v6_words: new Uint32Array(),
  v6_length: new Uint8Array(),
  origin_start: new Uint32Array(1),
  origin_as: new Uint32Array(),
  first_seen: new Uint32Array(),
  last_seen: new Uint32Array(),
  as_number: new Uint32Array(),
  as_first_seen: new Uint32Array(),
  as_last_seen: new Uint32Array(),
};

/**
 * Times only widen, in whatever order tables come: the first goes back, the last forward. Merging the same table again changes nothing. Origins that
 * are not announced are kept for their time; above `withdrawnMax`, those that were seen longest ago are dropped first.
 *
 * @param times  of the run's tables alone; they are widened in place.
 * @param before  checked; null: there is none.
 *
 * Cost: a step per prefix and origin of either side, and again if there are too many.
 */
export function mergeHistory(
  routes: MergedRoutes["columns"],
  times: OriginTimes,
  before: HistoryColumns | null,
  { now, keptSeconds, withdrawnMax = historyWithdrawnMax }: HistoryOptions,
): MergedHistory {
  const past = before ?? noHistory;
  const oldest = keptSeconds === null ? 0 : Math.max(0, now - keptSeconds);
  let merge = new HistoryMerge(routes, times, past, oldest);
  if (merge.withdrawn > withdrawnMax) merge = new HistoryMerge(routes, times, past, merge.boundFor(withdrawnMax));
  const ases = mergeAses(routes, times, past, oldest);
  return {
    history: { ...merge.columns(), as_number: ases.number, as_first_seen: ases.first, as_last_seen: ases.last },
    seen: { ...timeColumns(times), seen_as: ases.number, seen_as_first: ases.first, seen_as_last: ases.last },
    withdrawn: merge.withdrawn,
    forgotten: merge.forgotten,
  };
}

/** One walk over the prefixes of both sides. */
class HistoryMerge {
  withdrawn = 0;
  forgotten = 0;
  readonly #routes: MergedRoutes["columns"];
  readonly #times: OriginTimes;
  readonly #past: HistoryColumns;
  readonly #oldest: number;
  /** Number of origins that are not announced, by the time when they were last seen. */
  readonly #withdrawnAt = new Map<number, number>();
  readonly #v4 = { words: new GrowableUint32(), length: new GrowableUint8() };
  readonly #v6 = { words: new GrowableUint32(), length: new GrowableUint8() };
  readonly #start = new GrowableUint32();
  readonly #as = new GrowableUint32();
  readonly #first = new GrowableUint32();
  readonly #last = new GrowableUint32();
  /** Origins of the current prefix that are AS numbers, in ascending order. */
  readonly #own: number[] = [];

  /** @param oldest  origins that are not announced and were last seen before this are dropped */
  constructor(routes: MergedRoutes["columns"], times: OriginTimes, past: HistoryColumns, oldest: number) {
    this.#routes = routes;
    this.#times = times;
    this.#past = past;
    this.#oldest = oldest;
    this.#family(1, this.#v4, [routes.v4_address, routes.v4_length, 0], [past.v4_address, past.v4_length, 0]);
    this.#family(
      4,
      this.#v6,
      [routes.v6_words, routes.v6_length, routes.v4_length.length],
      [past.v6_words, past.v6_length, past.v4_length.length],
    );
    this.#start.push(this.#as.length);
  }

  /** The earliest time for which at most `max` origins that are not announced were last seen then or later. */
  boundFor(max: number): number {
    let count = 0;
    for (const [time, origins] of [...this.#withdrawnAt].sort(([a], [b]) => b - a)) {
      count += origins;
      if (count > max) return time + 1;
    }
    return this.#oldest;
  }

  columns(): Omit<HistoryColumns, "as_number" | "as_first_seen" | "as_last_seen"> {
    return {
      v4_address: this.#v4.words.view(),
      v4_length: this.#v4.length.view(),
      v6_words: this.#v6.words.view(),
      v6_length: this.#v6.length.view(),
      origin_start: this.#start.view(),
      origin_as: this.#as.view(),
      first_seen: this.#first.view(),
      last_seen: this.#last.view(),
    };
  }

  #family(
    size: 1 | 4,
    into: { words: GrowableUint32; length: GrowableUint8 },
    [words, lengths, firstEntry]: readonly [Uint32Array, Uint8Array, number],
    [pastWords, pastLengths, firstPast]: readonly [Uint32Array, Uint8Array, number],
  ): void {
    let at = 0;
    let past = 0;
    while (at < lengths.length || past < pastLengths.length) {
      let order = at === lengths.length ? 1 : past === pastLengths.length ? -1 : 0;
      for (let word = 0; order === 0 && word < size; word++)
        order = (words[at * size + word] as number) - (pastWords[past * size + word] as number);
      // If one side is at its end, `order` already says that the other side is next.
      if (order === 0) order = (lengths[at] as number) - (pastLengths[past] as number);
      const start = this.#as.length;
      this.#origins(order <= 0 ? firstEntry + at : -1, order >= 0 ? firstPast + past : -1);
      if (this.#as.length > start) {
        const [from, place] = order <= 0 ? [words, at] : [pastWords, past];
        for (let word = 0; word < size; word++) into.words.push(from[place * size + word] as number);
        into.length.push((order <= 0 ? lengths[at] : pastLengths[past]) as number);
        this.#start.push(start);
      }
      if (order <= 0) at++;
      if (order >= 0) past++;
    }
  }

  /** @param entry, past  the prefix on either side; −1: it is not there */
  #origins(entry: number, past: number): void {
    const { first, last } = this.#times;
    const { origin_value } = this.#routes;
    const { origin_start, origin_as, first_seen, last_seen } = this.#past;
    let next = past < 0 ? 0 : (origin_start[past] as number);
    const end = past < 0 ? 0 : (origin_start[past + 1] as number);
    for (const origin of this.#announced(entry)) {
      const asn = origin_value[origin] as number;
      while (next < end && (origin_as[next] as number) < asn) this.#withdraw(next++);
      if (next < end && origin_as[next] === asn) widen(first, last, origin, first_seen[next] as number, last_seen[next++] as number);
      // A table without a time does not say when an origin was seen.
      if (last[origin] !== 0) this.#push(asn, first[origin] as number, last[origin] as number);
    }
    while (next < end) this.#withdraw(next++);
  }

  /** Origins of an entry that are AS numbers, in ascending order. There are few. */
  #announced(entry: number): readonly number[] {
    const own = this.#own;
    own.length = 0;
    if (entry < 0) return own;
    const { origin_start, origin_kind, origin_value } = this.#routes;
    const end = origin_start[entry + 1] as number;
    for (let origin = origin_start[entry] as number; origin < end; origin++) {
      if (origin_kind[origin] !== originKind.as) continue;
      let place = own.length;
      for (; place > 0 && (origin_value[own[place - 1] as number] as number) > (origin_value[origin] as number); place--)
        own[place] = own[place - 1] as number;
      own[place] = origin;
    }
    return own;
  }

  #withdraw(past: number): void {
    const last = this.#past.last_seen[past] as number;
    if (last < this.#oldest) {
      this.forgotten++;
      return;
    }
    this.withdrawn++;
    this.#withdrawnAt.set(last, (this.#withdrawnAt.get(last) ?? 0) + 1);
    this.#push(this.#past.origin_as[past] as number, this.#past.first_seen[past] as number, last);
  }

  #push(asn: number, first: number, last: number): void {
    this.#as.push(asn);
    this.#first.push(first);
    this.#last.push(last);
  }
}

/** Widens the times of an item; 0: it has none yet. */
function widen(first: Uint32Array, last: Uint32Array, item: number, earlier: number, later: number): void {
  if (first[item] === 0 || earlier < (first[item] as number)) first[item] = earlier;
  if (later > (last[item] as number)) last[item] = later;
}

/** ASes of both sides, in ascending order: those that announce something now, and the others for as long as they are kept. */
function mergeAses(
  { as_number, as_start, as_origin }: MergedRoutes["columns"],
  times: OriginTimes,
  past: HistoryColumns,
  oldest: number,
): { number: Uint32Array; first: Uint32Array; last: Uint32Array } {
  const most = as_number.length + past.as_number.length;
  const [number, first, last] = [new Uint32Array(most), new Uint32Array(most), new Uint32Array(most)];
  let count = 0;
  let next = 0;
  const keepUpTo = (asn: number) => {
    for (; next < past.as_number.length && (past.as_number[next] as number) < asn; next++) {
      if ((past.as_last_seen[next] as number) < oldest) continue;
      number[count] = past.as_number[next] as number;
      first[count] = past.as_first_seen[next] as number;
      last[count++] = past.as_last_seen[next] as number;
    }
  };
  for (let at = 0; at < as_number.length; at++) {
    const asn = as_number[at] as number;
    keepUpTo(asn);
    const end = as_start[at + 1] as number;
    for (let row = as_start[at] as number; row < end; row++) {
      const origin = as_origin[row] as number;
      if (times.last[origin] !== 0) widen(first, last, count, times.first[origin] as number, times.last[origin] as number);
    }
    if (past.as_number[next] === asn) widen(first, last, count, past.as_first_seen[next] as number, past.as_last_seen[next++] as number);
    if (last[count] !== 0) number[count++] = asn;
  }
  keepUpTo(Number.POSITIVE_INFINITY);
  return { number: number.slice(0, count), first: first.slice(0, count), last: last.slice(0, count) };
}

/** Most origins were last seen in one of the run's tables. Two-byte positions in a list of times take half the memory of the times. */
function timeColumns({ first, last }: OriginTimes): Pick<RoutesColumns, "origin_first_seen" | "origin_last_seen" | "seen_time"> {
  const times = new Set(last);
  times.delete(0);
  // Origins of still older times get none. This needs as many tables that were imported out of order.
  const newest = [...times].sort((a, b) => b - a).slice(0, placesMax);
  const seen_time = Uint32Array.from([0, ...newest.reverse()]);
  const places = new Map(Array.from(seen_time, (time, place) => [time, place]));
  const origin_last_seen = new Uint16Array(last.length);
  for (let origin = 0; origin < last.length; origin++) {
    const place = places.get(last[origin] as number) ?? 0;
    origin_last_seen[origin] = place;
    if (place === 0) first[origin] = 0;
  }
  return { origin_first_seen: first, origin_last_seen, seen_time };
}

/** Positions that a column of 16 bits can distinguish, without the first one. */
const placesMax = 65_535;
