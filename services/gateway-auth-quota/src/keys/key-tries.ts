/** Tries of keys that are not cached: counted by address, also while they are in flight, so that guesses cost the store little and lock nobody out. */

interface Source {
  /** In this window. */
  failures: number;
  until: number;
  readonly flights: Flights;
  /** Reads beyond the failures that are allowed, in this second. */
  readonly extra: SecondCount;
}

/** A try that may be made. */
export interface Try {
  /** Ms for which the failed keys of this address are refused; 0: the try was within its window's. */
  readonly waitMs: number;
  /** Call once. A try that did not fail counts as if it had not been. */
  end(failed: boolean): void;
}

/** `source`: too much was tried from this address. `store`: too much is being read from the store. */
export interface TryRefusal {
  readonly refusedBy: "source" | "store";
  readonly waitMs: number;
  /** Resolves when a try that counts against this one has ended, which may make room; null: there is none. */
  readonly room: Promise<void> | null;
}

export interface TrySettings {
  readonly failedKeysMax: number;
  readonly failedKeysWindowMs: number;
  readonly failedSourcesMax: number;
  readonly failedReadsPerSecond: number;
  readonly triesPerSecond: number;
}

/** More are refused instead of waiting for room. */
const waitingMax = 1_000;

/** Tries in flight, and who waits for one of them to end. */
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

/** Units of one second that may be given back within it. */
class SecondCount {
  #second = -1;
  #count = 0;

  /** @returns whether there was one. */
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
  /** In the order of their windows' ends, as all windows are equally long. */
  readonly #sources = new Map<string, Source>();
  readonly #reads = new SecondCount();
  readonly #flights = new Flights();

  constructor(settings: TrySettings, monotonic: () => number) {
    this.#settings = settings;
    this.#monotonic = monotonic;
  }

  /** @param reads  whether the store is asked; else it is known that the try fails. */
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

  /** A flood from more sources than we remember frees its oldest: memory stays bounded, and the store by what all may read. */
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
