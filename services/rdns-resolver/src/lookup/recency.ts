/** Items in the order of their last use, linked by their own members: no operation allocates, or touches more than two neighbours. */

export interface Linked<T> {
  /** Neighbours; null at the ends, and outside the list. */
  older: T | null;
  newer: T | null;
}

export class RecencyList<T extends Linked<T>> {
  #oldest: T | null = null;
  #newest: T | null = null;

  get oldest(): T | null {
    return this.#oldest;
  }

  /** Adds an item that is not in the list, as the newest. */
  add(item: T): void {
    item.older = this.#newest;
    if (this.#newest === null) this.#oldest = item;
    else this.#newest.newer = item;
    this.#newest = item;
  }

  /** Removes an item of the list. */
  remove(item: T): void {
    const { older, newer } = item;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    item.older = null;
    item.newer = null;
  }

  /** Makes an item of the list the newest. */
  touch(item: T): void {
    if (item === this.#newest) return;
    this.remove(item);
    this.add(item);
  }
}
