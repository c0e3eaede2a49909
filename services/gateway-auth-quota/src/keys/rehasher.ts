/** Rehashes keys that have an old pepper, or none, with the current one when they are used: only then is their text known. */

import { hashKey, type KeyRecord, type Pepper } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";

export class Rehasher {
  readonly #keys: Store["keys"];
  readonly #pepper: Pepper | null;
  /** Records that were tried, with or without success. A record that is read again is another object. */
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
    // If this fails, or another gateway was faster, the key still matches.
    this.#keys.rehash(record.id, record.hash, hashKey(text, this.#pepper)).catch(() => {});
  }
}
