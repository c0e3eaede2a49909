/** Counted requests: per key, UTC day and class of route. Exact, however often a write was repeated. */

/** `counted` requests cost the month a unit each; `uncounted` ones (304, 4xx, 5xx, `/me`) did not. */
export interface UsageCounts {
  readonly counted: number;
  readonly uncounted: number;
}

export interface UsageRow extends UsageCounts {
  readonly keyId: string;
  /** Bucket of the key: the same before and after a rotation. */
  readonly bucket: string;
  /** UTC, `2026-11-21`. */
  readonly day: string;
  /** One of our own words, never text of a caller: `ip`, `reverse_dns`, `batch`. */
  readonly routeClass: string;
}

/**
 * The counts of one writer since its previous batch. `writer` is a name that no other process and no other run has; `sequence` increases with each of
 * its batches.
 */
export interface UsageBatch {
  readonly writer: string;
  readonly sequence: number;
  readonly increments: readonly UsageRow[];
}

/** Days are inclusive, in the form of `UsageRow.day`. */
export interface UsageQuery {
  readonly from: string;
  readonly to: string;
  readonly keyId?: string;
  readonly bucket?: string;
  readonly routeClass?: string;
}

/** A page of rows: at most `limit` rows after `after`, which need not exist. */
export interface UsagePage {
  readonly limit: number;
  readonly after?: Pick<UsageRow, "keyId" | "day" | "routeClass">;
}

export interface UsageRepository {
  /**
   * Adds a batch. If it fails, repeat it unchanged, before the writer's next one, until it succeeds: the part that was written already is not added
   * twice.
   *
   * @throws RangeError for invalid counts, days or names.
   */
  add(batch: UsageBatch): Promise<void>;
  /** One row per key, day and class, in this order; all rows if there is no page. */
  list(query: UsageQuery, page?: UsagePage): Promise<UsageRow[]>;
  /** The sum of these rows. */
  total(query: UsageQuery): Promise<UsageCounts>;
  /** The latest day before `before` that has usage; null: there is none. */
  latestDay(before: string): Promise<string | null>;
  /** Removes at most `limit` rows of days before `day`. @returns how many. */
  removeBefore(day: string, limit: number): Promise<number>;
  /**
   * Forgets which batches of writers were added, at most `limit` at a time, for rows that were not written since `day`: a batch that is repeated
   * after that would be added twice. Looks at a few days before `day` only, so call it more often than weekly. @returns how many.
   */
  forgetWriters(day: string, limit: number): Promise<number>;
  /** Total usage of a bucket in a calendar month, `2026-11`. */
  monthTotal(bucket: string, month: string): Promise<UsageCounts>;
}
