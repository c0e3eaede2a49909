/** Shared memory that was given up is freed by the collector, which does not know how large it is: V8 does not count it. So it is counted here. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Of `globalThis.gc`, which exists with a flag only. */
type Collect = (options: { readonly type: "major"; readonly execution: "async" }) => Promise<void>;

let collect: Collect | null = null;

/** Collects everything that nobody refers to, in a turn of its own. The thread does nothing else meanwhile. */
export function collectGarbage(): Promise<void> {
  if (collect === null) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as Collect;
  }
  return collect({ type: "major", execution: "async" });
}

export class ReleasedMemory {
  readonly #seen = new WeakSet<ArrayBufferLike>();
  readonly #freed = new FinalizationRegistry<number>((bytes) => {
    this.#bytes -= bytes;
  });
  #bytes = 0;

  /** Counts these until they are freed; each once. */
  watch(buffers: Iterable<ArrayBufferLike>): void {
    for (const buffer of buffers) {
      if (this.#seen.has(buffer)) continue;
      this.#seen.add(buffer);
      this.#freed.register(buffer, buffer.byteLength);
      this.#bytes += buffer.byteLength;
    }
  }

  /** Bytes that were watched and are not freed yet. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Frees what nobody refers to, if there is any: more is watched than the bytes that are `used`. */
  async free(used: number): Promise<void> {
    if (this.#bytes > used) await collectGarbage();
  }
}
