/** Announced changes of keys, taken at once while they are few, and together while somebody announces without end. */

/** Changes that count at once, within one span. Operators make far fewer. */
const changesMax = 20;
/** Then all of a span count together at its end: well within the second in which a change must be seen. */
const spanMs = 400;
/** More than these, and any key is taken as changed: each that is named is read from the store, used or not. */
const idsMax = 64;

export interface ChangeListener {
  keyChanged(id: string): void;
  anyChanged(): void;
  /** A span begins in which changes are taken together, after one in which they were not. */
  many(): void;
}

export class ChangeIntake {
  readonly #listener: ChangeListener;
  #heard = 0;
  #isMany = false;
  /** Null: any key. */
  #waiting: Set<string> | null = new Set();
  #span: NodeJS.Timeout | undefined;

  constructor(listener: ChangeListener) {
    this.#listener = listener;
  }

  /** @param id  of the key; null: it may be any. */
  hear(id: string | null): void {
    this.#heard += 1;
    this.#span ??= setTimeout(() => this.#endSpan(), spanMs).unref();
    if (!this.#isMany && this.#heard > changesMax) {
      this.#isMany = true;
      this.#listener.many();
    }
    if (this.#isMany) this.#wait(id);
    else if (id === null) this.#listener.anyChanged();
    else this.#listener.keyChanged(id);
  }

  stop(): void {
    clearTimeout(this.#span);
    this.#waiting = new Set();
  }

  #wait(id: string | null): void {
    if (this.#waiting === null) return;
    if (id === null || this.#waiting.size >= idsMax) this.#waiting = null;
    else this.#waiting.add(id);
  }

  #endSpan(): void {
    const waiting = this.#waiting;
    this.#isMany = this.#heard > changesMax;
    this.#heard = 0;
    this.#waiting = new Set();
    this.#span = this.#isMany ? setTimeout(() => this.#endSpan(), spanMs).unref() : undefined;
    if (waiting === null) this.#listener.anyChanged();
    else for (const id of waiting) this.#listener.keyChanged(id);
  }
}
