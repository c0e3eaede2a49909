/** Counted requests: per key, UTC day and class of route. Exact, however often a write had to be repeated. */

/** `counted` cost the month a unit each, `uncounted` (304, 4xx, 5xx, `/me`) did not. */
export interface UsageCounts {
  readonly counted: number;
  readonly uncounted: number;
}

export interface UsageRow extends UsageCounts {
  readonly keyId: string;
  /** Of the key: the same before and after a rotation. */
  readonly bucket: string;
  /** UTC, `2026-11-21`. */
  readonly day: string;
  /** Of our own words only, never text of a caller: `ip`, `reverse_dns`, `batch`. */
  readonly routeClass: string;
}

/**
 * What one writer counted since its batch before. `writer` is a name that no other process and no other run has; `sequence`
 * rises by each batch of it.
 */
export interface UsageBatch {
  readonly writer: string;
  readonly sequence: number;
  readonly increments: readonly UsageRow[];
}

/** Days inclusive, in the form of `UsageRow.day`. */
export interface UsageQuery {
  readonly from: string;
  readonly to: string;
  readonly keyId?: string;
  readonly bucket?: string;
  readonly routeClass?: string;
}

/** A page of rows: those behind `after`, which need not exist; at most `limit`. */
export interface UsagePage {
  readonly limit: number;
  readonly after?: Pick<UsageRow, "keyId" | "day" | "routeClass">;
}

export interface UsageRepository {
  /**
   * Adds a batch. One that failed is repeated unchanged, and before the writer's next one, until it succeeds: what it had
   * written already is not added twice.
   *
   * @throws RangeError for counts, days or names that make no sense.
   */
  add(batch: UsageBatch): Promise<void>;
  /** One row per key, day and class, ordered by these; all of them without a page. */
  list(query: UsageQuery, page?: UsagePage): Promise<UsageRow[]>;
  /** The sum of these rows. */
  total(query: UsageQuery): Promise<UsageCounts>;
  /** The latest day before this one that has usage; null: there is none. */
  latestDay(before: string): Promise<string | null>;
  /** Removes at most `limit` rows of days before this one. @returns how many. */
  removeBefore(day: string, limit: number): Promise<number>;
  /**
   * Forgets, at most `limit` at a time, which batches of writers are in, where nothing was written since this day: one that were repeated
   * after that would be added twice. Looks at few days before it, so it is to be called more often than weekly. @returns how many.
   */
  forgetWriters(day: string, limit: number): Promise<number>;
  /** Everything of a bucket in a calendar month, `2026-11`. */
  monthTotal(bucket: string, month: string): Promise<UsageCounts>;
}
