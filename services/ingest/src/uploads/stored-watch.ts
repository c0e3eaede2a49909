/** The leader's watch of the stored observations: keeps them within their bounds, and tells the schedule when a run must include changes. */

import type { ObservationRepository } from "@netfacts/storage";
import { type StoredStock, type StoredVersion, storedNow } from "./stored-source.ts";
import { sweep, uploadRecordsMax } from "./sweep.ts";

export interface StoredWatchDeps {
  readonly repository: ObservationRepository;
  /** Shortest time between two runs that include changes. */
  readonly intervalMs: number;
  readonly rowsMax: number;
  /** `observations_kept` of the current list. */
  keptSeconds(): Promise<number>;
  readonly clock: { now(): number };
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Called when there is a new version for a run. */
  onChange(): void;
  /** Time between two looks; default: 2 s. */
  readonly lookMs?: number;
}

const lookMsDefault = 2_000;
/** Longest time between two sweeps, even if nothing is uploaded. */
const sweepMs = 600_000;

/** The watch of one term. */
export class StoredWatch implements StoredStock {
  readonly #deps: StoredWatchDeps;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #look: Promise<void> = Promise.resolve();
  /** The version that the next run is to read. */
  #offered: StoredVersion | null = null;
  #offeredAt = Number.NEGATIVE_INFINITY;
  #seen = -1;
  #changedAt = Number.NEGATIVE_INFINITY;
  #sweptAt = Number.NEGATIVE_INFINITY;
  /** As `Swept.checkedTo`. */
  #checkedTo = 0;
  #isAway = false;

  constructor(deps: StoredWatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#look = this.#lookAgain();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#look;
  }

  async version(isNow: boolean): Promise<StoredVersion | null> {
    return isNow ? storedNow(this.#deps.repository).version(true) : this.#offered;
  }

  async #lookAgain(): Promise<void> {
    const { lookMs = lookMsDefault, log } = this.#deps;
    try {
      await this.#lookNow();
      this.#isAway = false;
    } catch (err) {
      if (!this.#stopping.signal.aborted && !this.#isAway) log.warn({ err }, "stored observations cannot be read; trying again");
      this.#isAway = true;
    }
    if (this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#look = this.#lookAgain();
    }, lookMs).unref();
  }

  async #lookNow(): Promise<void> {
    const { repository, intervalMs, clock } = this.#deps;
    const now = clock.now();
    // If the clock was set back, everything is due now.
    if (now < this.#offeredAt) this.#offeredAt = Number.NEGATIVE_INFINITY;
    if (now < this.#sweptAt) this.#sweptAt = Number.NEGATIVE_INFINITY;
    const revision = await repository.revision();
    if (revision !== this.#seen) {
      this.#seen = revision;
      this.#changedAt = now;
    }
    const isBehind = this.#offered?.revision !== revision;
    // A file that is still being sent causes one run per interval, and one at its end.
    const isQuiet = this.#offered === null || now > this.#changedAt || now - this.#offeredAt >= 2 * intervalMs;
    const isDue = isBehind && isQuiet && now - this.#offeredAt >= intervalMs;
    if (!isDue && now - this.#sweptAt < sweepMs) return;
    await this.#sweep(now);
    if (!isDue) return;
    const version = await this.version(true);
    if (version === null || version.revision === this.#offered?.revision) return;
    this.#seen = version.revision;
    this.#offered = version;
    this.#offeredAt = now;
    this.#deps.onChange();
  }

  async #sweep(now: number): Promise<void> {
    const { repository, rowsMax, keptSeconds, log } = this.#deps;
    this.#sweptAt = now;
    const { signal } = this.#stopping;
    const checkFrom = this.#checkedTo;
    const { rows, checkedTo } = await sweep(repository, { keptSeconds: await keptSeconds(), rowsMax, checkFrom, now, signal });
    this.#checkedTo = checkedTo;
    if (rows > 0)
      log.info({ rows }, `observations beyond observations_kept, OBSERVATIONS_ROWS_MAX or ${uploadRecordsMax} uploads were removed`);
  }
}
