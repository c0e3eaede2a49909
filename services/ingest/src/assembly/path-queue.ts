/** Queues paths for a `PathTable`, and looks up many at once, so that the waits for distant memory overlap. */

import { hashBytes } from "@netfacts/address";
import type { GrowableUint32 } from "@netfacts/snapshot";
import type { PathTable } from "./path-table.ts";

/** More gain nothing: a processor has about ten reads in flight. */
const pathsMax = 64;
const bytesMax = 1 << 14;

export class PathQueue {
  readonly #table: PathTable;
  readonly #bytes = new Uint8Array(bytesMax);
  /** Bounds of each path's bytes: one more than there are paths. */
  readonly #start = new Uint32Array(pathsMax + 1);
  readonly #hash = new Uint32Array(pathsMax);
  #count = 0;
  /** Stored, because the engine removes reads without an effect. */
  read = 0;

  constructor(table: PathTable) {
    this.#table = table;
  }

  /**
   * Numbers the path in `bytes[start, end)`, in the order of the calls. `numbers` gets the number after `flush` at the latest; pass the same list
   * until then.
   */
  add(bytes: Uint8Array, start: number, end: number, numbers: GrowableUint32): void {
    let to = this.#start[this.#count] as number;
    if (this.#count === pathsMax || to + end - start > bytesMax) {
      this.flush(numbers);
      to = 0;
    }
    if (end - start > bytesMax) {
      numbers.push(this.#table.intern(bytes, start, end));
      return;
    }
    const own = this.#bytes;
    for (let at = start; at < end; at++) own[to++] = bytes[at] as number;
    this.#hash[this.#count++] = hashBytes(bytes, start, end);
    this.#start[this.#count] = to;
  }

  flush(numbers: GrowableUint32): void {
    const count = this.#count;
    const table = this.#table;
    this.read = table.approach(this.#hash, count);
    for (let path = 0; path < count; path++)
      numbers.push(table.intern(this.#bytes, this.#start[path] as number, this.#start[path + 1] as number, this.#hash[path]));
    this.#count = 0;
  }
}
