/** A bounded sample of keys, with all values that a stream has for each kept key. */

import type { Random } from "./reservoir.ts";

type Key = number | string;

/**
 * Keeps the keys with the smallest hashes ("bottom-k"): a key that is kept in the end was kept at each appearance, so that none of its values is
 * missing. The greatest number among the keys is kept too, because a build most easily loses entries at an edge.
 */
export class KeyedSample<V> {
  readonly #max: number;
  readonly #seed: number;
  #kept = new Map<Key, { readonly hash: number; readonly values: V[] }>();
  #bound = 2 ** 32;
  #greatest: { key: number; values: V[] } | null = null;

  constructor(max: number, random: Random) {
    this.#max = max;
    this.#seed = random() * 2 ** 32;
  }

  add(key: Key, value: V): void {
    if (typeof key === "number" && (this.#greatest === null || key >= this.#greatest.key)) {
      if (this.#greatest?.key !== key) this.#greatest = { key, values: [] };
      this.#greatest.values.push(value);
    }
    const hash = this.#hash(key);
    if (hash > this.#bound) return;
    const known = this.#kept.get(key);
    if (known !== undefined) known.values.push(value);
    else {
      this.#kept.set(key, { hash, values: [value] });
      if (this.#kept.size >= 2 * this.#max) this.#prune();
    }
  }

  /** Each key with its values, in the order in which these were added. */
  entries(): [key: Key, values: readonly V[]][] {
    this.#prune();
    const all = new Map<Key, readonly V[]>([...this.#kept].map(([key, { values }]) => [key, values]));
    if (this.#greatest !== null) all.set(this.#greatest.key, this.#greatest.values);
    return [...all];
  }

  #prune(): void {
    if (this.#kept.size <= this.#max) return;
    const least = [...this.#kept].sort(([, a], [, b]) => a.hash - b.hash).slice(0, this.#max);
    this.#kept = new Map(least);
    this.#bound = least.at(-1)?.[1].hash ?? 0;
  }

  #hash(key: Key): number {
    const text = String(key);
    let hash = this.#seed >>> 0;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return (hash ^ (hash >>> 13)) >>> 0;
  }
}
