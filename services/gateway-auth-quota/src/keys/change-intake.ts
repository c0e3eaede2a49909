/** Receives announced changes of keys. Applies them at once while they are few, and together at intervals while there are many. */

/** Changes of one span that are applied at once. Operators make far fewer. */
const changesMax = 20;
/** Length of a span, at whose end many changes are applied: well within the second in which a change must take effect. */
const spanMs = 400;
/** With more ids, all keys count as changed: each key that is named is read from the store, even if it is not used. */
const idsMax = 64;

export interface ChangeListener {
  keyChanged(id: string): void;
  anyChanged(): void;
  /** Called when changes become many, and are applied together from then on. */
  many(): void;
}

export class ChangeIntake {
  readonly #listener: ChangeListener;
  #heard = 0;
  #isMany = false;
  /** Ids of changed keys; null: any key may have changed. */
  #waiting: Set<string> | null = new Set();
  #span: NodeJS.Timeout | undefined;

  constructor(listener: ChangeListener) {
    this.#listener = listener;
  }

  /** @param id  id of the changed key; null: any key may have changed. */
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
