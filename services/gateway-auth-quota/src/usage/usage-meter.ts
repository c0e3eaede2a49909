/** Counts the use of keys: in memory on the request path, and written to the store in batches in the background. */

import { randomUUID } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import type { UsageClass } from "@netfacts/contracts";
import type { UsageBatch, UsageRepository, UsageRow } from "@netfacts/storage";
import type { Admission } from "../limits/index.ts";

/** The part of a log that usage needs. */
export interface UsageLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface UsageMeterOptions {
  readonly usage: Pick<UsageRepository, "add">;
  readonly log: UsageLog;
  /** Interval of writes, in ms. A kill loses at most the counts of this time. */
  readonly flushMs: number;
  /** Time that a stop has for the last write. Default: 5 s. */
  readonly stopMs?: number;
}

interface Counts {
  counted: number;
  uncounted: number;
}

interface KeyCounts {
  readonly bucket: string;
  readonly classes: Map<UsageClass, Counts>;
}

/** Rows of one transaction: few enough not to block the event loop for long while SQLite writes. */
const batchRows = 200;
const dayMs = 86_400_000;
const retryMs = 250;

export class UsageMeter {
  readonly #options: UsageMeterOptions;
  /** Unique among all runs of all gateways. */
  readonly #writer = `gateway-${randomUUID()}`;
  readonly #timer: NodeJS.Timeout;
  #sequence = 0;
  /** Counts since the last cut: day (days since 1970) → key → class. */
  #days = new Map<number, Map<string, KeyCounts>>();
  /** Batches that are cut and not yet written. A failed one is retried unchanged before anything else is cut. */
  #pending: UsageBatch[] = [];
  #writing: Promise<boolean> | null = null;
  #failing = false;
  /** The last day that was found to be in this month window. */
  #known = { day: -1, windowStart: -1 };

  constructor(options: UsageMeterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.flush(), options.flushMs).unref();
  }

  /** Number of requests and answers that are counted and not written. */
  get unwritten(): number {
    const counting = [...this.#days.values()].flatMap((keys) => [...keys.values()].flatMap(({ classes }) => [...classes.values()]));
    return [...counting, ...this.#pending.flatMap(({ increments }) => increments)].reduce(
      (sum, { counted, uncounted }) => sum + counted + uncounted,
      0,
    );
  }

  /** Counts for the day of the admission, by the store's clock. The day is in the month whose units were charged. */
  count({ key, charge }: Admission, counted: number, uncounted: number): void {
    const counts = this.#countsOf(this.#dayOf(charge.at, charge.monthWindowStart), key, charge.usage);
    counts.counted += counted;
    counts.uncounted += uncounted;
  }

  #countsOf(day: number, { id, bucket }: Admission["key"], usage: UsageClass): Counts {
    const keys = kept(this.#days, day, () => new Map<string, KeyCounts>());
    const { classes } = kept(keys, id, () => ({ bucket, classes: new Map() }));
    return kept(classes, usage, () => ({ counted: 0, uncounted: 0 }));
  }

  /** Writes the counts. @returns whether all of them are in the store. */
  flush(): Promise<boolean> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  /** Call after the last request was settled. @returns the number of requests and answers that could not be written. */
  async stop(): Promise<number> {
    clearInterval(this.#timer);
    const deadline = performance.now() + (this.#options.stopMs ?? 5_000);
    // A write in progress does not include the last requests.
    await this.#writing;
    while (!(await this.flush()) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, retryMs));
    const lost = this.unwritten;
    if (lost > 0)
      this.#options.log.warn({ requests: lost }, "usage counts of these requests could not be written before shutdown and are lost");
    return lost;
  }

  async #write(): Promise<boolean> {
    if (this.#pending.length === 0) this.#cut();
    for (let batch = this.#pending[0]; batch !== undefined; batch = this.#pending[0]) {
      try {
        await this.#options.usage.add(batch);
      } catch (err) {
        if (!this.#failing)
          this.#options.log.warn(
            { err },
            "usage counts cannot be written; they are kept in memory and written when the store is available again",
          );
        this.#failing = true;
        return false;
      }
      this.#pending.shift();
      await turn();
    }
    if (this.#failing) this.#options.log.info({}, "usage counts are being written again");
    this.#failing = false;
    return true;
  }

  #cut(): void {
    const rows: UsageRow[] = [];
    for (const [day, keys] of this.#days) {
      const text = new Date(day * dayMs).toISOString().slice(0, 10);
      for (const [keyId, { bucket, classes }] of keys) {
        for (const [routeClass, counts] of classes) rows.push({ keyId, bucket, day: text, routeClass, ...counts });
      }
    }
    this.#days = new Map();
    for (let start = 0; start < rows.length; start += batchRows) {
      this.#pending.push({ writer: this.#writer, sequence: ++this.#sequence, increments: rows.slice(start, start + batchRows) });
    }
  }

  /** The day of a time, but at most the last day of the month: the time of the last admission may be just after the end of its window. */
  #dayOf(at: number, windowStart: number): number {
    const day = Math.floor(at / dayMs);
    if (day === this.#known.day && windowStart === this.#known.windowStart) return day;
    const month = new Date(windowStart * 1_000);
    const last = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1) / dayMs - 1;
    if (windowStart >= 0 && day > last) return last;
    this.#known = { day, windowStart };
    return day;
  }
}

function kept<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
