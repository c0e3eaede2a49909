/** Slows down guessing: too many failed keys from one source, and the source waits for the end of its window. */

interface Failures {
  count: number;
  readonly until: number;
}

export class FailedKeys {
  readonly #max: number;
  readonly #windowMs: number;
  readonly #sourcesMax: number;
  /** In the order of their windows' ends, as all windows are equally long. */
  readonly #sources = new Map<string, Failures>();

  constructor(settings: { readonly failedKeysMax: number; readonly failedKeysWindowMs: number; readonly failedSourcesMax: number }) {
    this.#max = settings.failedKeysMax;
    this.#windowMs = settings.failedKeysWindowMs;
    this.#sourcesMax = settings.failedSourcesMax;
  }

  /** Nobody failed lately: nothing to look up. */
  get quiet(): boolean {
    return this.#sources.size === 0;
  }

  /** @returns ms until the source may try again; 0 = now. */
  waitMs(source: string, now: number): number {
    const failures = this.#sources.get(source);
    if (failures === undefined || failures.count < this.#max) return 0;
    return Math.max(0, failures.until - now);
  }

  record(source: string, now: number): void {
    this.#forgetEnded(now);
    const failures = this.#sources.get(source);
    if (failures !== undefined) {
      failures.count += 1;
      return;
    }
    if (this.#sources.size >= this.#sourcesMax) this.#forgetOldest();
    this.#sources.set(source, { count: 1, until: now + this.#windowMs });
  }

  #forgetEnded(now: number): void {
    for (const [source, { until }] of this.#sources) {
      if (until > now) return;
      this.#sources.delete(source);
    }
  }

  /** A flood from more sources than we remember frees its oldest: memory stays bounded, and each still gets few tries. */
  #forgetOldest(): void {
    for (const source of this.#sources.keys()) {
      this.#sources.delete(source);
      return;
    }
  }
}
