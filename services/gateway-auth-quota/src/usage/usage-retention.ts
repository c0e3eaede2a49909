/** Removes expired usage, in small steps in the background. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "@netfacts/storage";
import type { UsageLog } from "./usage-meter.ts";

export interface UsageRetentionOptions {
  readonly store: {
    readonly usage: Pick<Store["usage"], "latestDay" | "removeBefore" | "forgetWriters">;
    readonly limits: Pick<Store["limits"], "time">;
  };
  readonly log: UsageLog;
  /** Days that usage is kept; 0: for ever. */
  readonly keptDays: number;
  /** Time between two runs, in ms. Default: 6 hours. */
  readonly intervalMs?: number;
}

const intervalMsDefault = 21_600_000;
const dayMs = 86_400_000;
/** Rows of one operation: few enough not to block the event loop for long with SQLite, and to fit one message to MongoDB. */
const rowsOfStep = 500;
/** Pause after a step, in multiples of its time: SQLite blocks the event loop, and requests have four fifths of it. */
const pauseTimes = 4;
/** Steps of one run: the next run, or another gateway, removes the rest. */
const stepsMax = 1_000;
/** No writer retries a batch after this time: without its store, a gateway does not run for so long. */
const writersKeptDays = 30;

export class UsageRetention {
  readonly #options: UsageRetentionOptions;
  #timer: NodeJS.Timeout | undefined;
  #run: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();

  constructor(options: UsageRetentionOptions) {
    this.#options = options;
  }

  /** Runs now, and regularly until `stop`. */
  start(): void {
    this.#run = this.#clean().finally(() => {
      if (!this.#stopping.signal.aborted)
        this.#timer = setTimeout(() => this.start(), this.#options.intervalMs ?? intervalMsDefault).unref();
    });
  }

  /** Resolves after the current step. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#run;
  }

  async #clean(): Promise<void> {
    const { store, log, keptDays } = this.#options;
    try {
      // The days of usage are by the store's clock too.
      const now = await store.limits.time();
      await this.#steps(() => store.usage.forgetWriters(dayBefore(now, writersKeptDays), rowsOfStep));
      if (keptDays === 0) return;
      // The clock may be years ahead: that of SQLite is this machine's. So count back from the last past day with usage. Today does not count:
      // its usage may come from a wrong clock that is corrected within the day.
      const latest = await store.usage.latestDay(dayBefore(now, 0));
      if (latest === null) return;
      const before = dayBefore(Date.parse(latest), keptDays);
      const rows = await this.#steps(() => store.usage.removeBefore(before, rowsOfStep));
      if (rows > 0) log.info({ rows, before }, "usage older than USAGE_KEPT_DAYS was removed");
    } catch (err) {
      log.warn({ err }, "old usage could not be removed; the next attempt is in a few hours");
    }
  }

  async #steps(step: () => Promise<number>): Promise<number> {
    let sum = 0;
    for (let steps = 0; steps < stepsMax && !this.#stopping.signal.aborted; steps++) {
      const begunAt = performance.now();
      const count = await step();
      sum += count;
      if (count < rowsOfStep) break;
      const pauseMs = pauseTimes * (performance.now() - begunAt);
      await sleep(pauseMs, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {});
    }
    return sum;
  }
}

/** UTC, `2026-11-21`. */
function dayBefore(ms: number, days: number): string {
  return new Date(ms - days * dayMs).toISOString().slice(0, 10);
}
