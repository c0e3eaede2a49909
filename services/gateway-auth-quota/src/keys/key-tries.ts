/** Tries of uncached keys: counted by address, including those in flight, so that guesses cost the store little and lock no valid key out. */

interface Source {
  /** Failures in this window. */
  failures: number;
  until: number;
  readonly flights: Flights;
  /** Reads in this second beyond the allowed failures. */
  readonly extra: SecondCount;
}

/** A try that is allowed. */
export interface Try {
  /** Time for which failed keys of this address are refused, in ms; 0: the try is within the allowed failures. */
  readonly waitMs: number;
  /** Call once. A try that did not fail is not counted. */
  end(failed: boolean): void;
}

/** `source`: too many tries from this address. `store`: too many reads from the store. */
export interface TryRefusal {
  readonly refusedBy: "source" | "store";
  readonly waitMs: number;
  /** Resolves when a try in flight has ended, which may make room; null: waiting does not help. */
  readonly room: Promise<void> | null;
}

export interface TrySettings {
  readonly failedKeysMax: number;
  readonly failedKeysWindowMs: number;
  readonly failedSourcesMax: number;
  readonly failedReadsPerSecond: number;
  readonly triesPerSecond: number;
}

/** Tries that may wait for room; further ones are refused. */
const waitingMax = 1_000;

/** Tries in flight, and callers that wait for the end of one. */
class Flights {
  count = 0;
  #waiting: (() => void)[] = [];

  get end(): Promise<void> | null {
    if (this.count === 0 || this.#waiting.length >= waitingMax) return null;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  ended(): void {
    this.count -= 1;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Counts units per second. They can be returned within the same second. */
class SecondCount {
  #second = -1;
  #count = 0;

  /** @returns whether a unit was left. */
  take(max: number, now: number): boolean {
    this.#enter(now);
    if (this.#count >= max) return false;
    this.#count += 1;
    return true;
  }

  giveBack(now: number): void {
    this.#enter(now);
    this.#count = Math.max(0, this.#count - 1);
  }

  #enter(now: number): void {
    const second = Math.floor(now / 1_000);
    if (second === this.#second) return;
    this.#second = second;
    this.#count = 0;
  }
}

export class KeyTries {
  readonly #settings: TrySettings;
  readonly #monotonic: () => number;
  /** In the order in which their windows end, because all windows have the same length. */
  readonly #sources = new Map<string, Source>();
  readonly #reads = new SecondCount();
  readonly #flights = new Flights();

  constructor(settings: TrySettings, monotonic: () => number) {
    this.#settings = settings;
    this.#monotonic = monotonic;
  }

  /** @param reads  whether the try reads the store; false: the id failed before, so the try fails. */
  begin(name: string, reads: boolean): Try | TryRefusal {
    const { failedKeysMax, failedReadsPerSecond, triesPerSecond } = this.#settings;
    const now = this.#monotonic();
    const source = this.#source(name, now);
    const { flights, extra } = source;
    const isBeyond = source.failures >= failedKeysMax;
    const waitMs = isBeyond ? source.until - now : 0;
    const fromSource = (ms: number): TryRefusal => ({ refusedBy: "source", waitMs: ms, room: flights.end });
    if (isBeyond && !reads) return { ...fromSource(waitMs), room: null };
    if (!isBeyond && source.failures + flights.count >= failedKeysMax) return fromSource(toNextSecond(now));
    if (isBeyond && !extra.take(failedReadsPerSecond, now)) return fromSource(toNextSecond(now));
    if (reads && !this.#reads.take(triesPerSecond, now)) return { refusedBy: "store", waitMs: toNextSecond(now), room: this.#flights.end };
    flights.count += 1;
    this.#flights.count += 1;
    return {
      waitMs,
      end: (failed) => {
        const ended = this.#monotonic();
        if (failed) source.failures += 1;
        else if (isBeyond) extra.giveBack(ended);
        if (!failed && reads) this.#reads.giveBack(ended);
        flights.ended();
        this.#flights.ended();
      },
    };
  }

  #source(name: string, now: number): Source {
    this.#forgetEnded(now);
    let source = this.#sources.get(name);
    if (source === undefined) {
      if (this.#sources.size >= this.#settings.failedSourcesMax) this.#forgetOldest();
      source = { failures: 0, until: now + this.#settings.failedKeysWindowMs, flights: new Flights(), extra: new SecondCount() };
      this.#sources.set(name, source);
    }
    return source;
  }

  #forgetEnded(now: number): void {
    for (const [name, { until }] of this.#sources) {
      if (until > now) return;
      this.#sources.delete(name);
    }
  }

  /** Drops the oldest source if there are too many. Memory stays bounded, and the limit of all reads protects the store. */
  #forgetOldest(): void {
    for (const name of this.#sources.keys()) {
      this.#sources.delete(name);
      return;
    }
  }
}

function toNextSecond(now: number): number {
  return 1_000 - (now % 1_000);
}
