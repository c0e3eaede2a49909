/** Keys that were hashed with an earlier pepper, or none, get the current one when they are used: only then their text is at hand. */

import { hashKey, type KeyRecord, type Pepper } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";

export class Rehasher {
  readonly #keys: Store["keys"];
  readonly #pepper: Pepper | null;
  /** What was tried, whatever came of it: a record that is read again is another one. */
  readonly #tried = new WeakSet<KeyRecord>();

  /** @param pepper  null: hashes stay as they are. */
  constructor(keys: Store["keys"], pepper: Pepper | null) {
    this.#keys = keys;
    this.#pepper = pepper;
  }

  /** Call with a record whose secret matched. Returns at once. */
  used(record: KeyRecord, text: string): void {
    if (this.#pepper === null || record.pepperId === this.#pepper.id || this.#tried.has(record)) return;
    this.#tried.add(record);
    // Where it fails, or another gateway was quicker, the old hash goes on to match.
    this.#keys.rehash(record.id, record.hash, hashKey(text, this.#pepper)).catch(() => {});
  }
}
