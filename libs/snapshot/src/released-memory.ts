/**
 * Counts shared memory that was dropped and not freed yet. The garbage collector frees it, but V8 does not count it, and so does not know how large
 * it is.
 */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The type of `globalThis.gc`, which exists with a flag only. */
type Collect = (options: { readonly type: "major"; readonly execution: "async" }) => Promise<void>;

let collect: Collect | null = null;

/** Collects all garbage, in a turn of its own. The thread does nothing else meanwhile. */
export function collectGarbage(): Promise<void> {
  if (collect === null) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as Collect;
  }
  return collect({ type: "major", execution: "async" });
}

/** V8 begins to collect garbage when 64 MiB were allocated outside its heap since the last collection. */
const noticedBytes = 80 * 2 ** 20;

/** Makes V8 collect garbage beside other work, in small steps: [decision 93](../../../docs/decisions/0093-dropped-snapshots-are-freed-soon.md). */
export function collectInSteps(): void {
  try {
    // V8 counts this memory. Nothing writes to it, so that it takes addresses only.
    new ArrayBuffer(noticedBytes);
  } catch {
    // The system has no addresses to give. V8 collects garbage later, as it always does.
  }
}

/** Dropped bytes from which memory is collected soon. */
const droppedMax = 32 * 2 ** 20;

export class ReleasedMemory {
  readonly #seen = new WeakSet<ArrayBufferLike>();
  readonly #freed = new FinalizationRegistry<number>((bytes) => {
    this.#bytes -= bytes;
  });
  #bytes = 0;

  /** Counts these buffers until they are freed; each once. */
  watch(buffers: Iterable<ArrayBufferLike>): void {
    for (const buffer of buffers) {
      if (this.#seen.has(buffer)) continue;
      this.#seen.add(buffer);
      this.#freed.register(buffer, buffer.byteLength);
      this.#bytes += buffer.byteLength;
    }
  }

  /** Bytes of watched buffers that are not freed yet. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Frees unused memory, if there is any: if more bytes are watched than are `used`. */
  async free(used: number): Promise<void> {
    if (this.#bytes > used) await collectGarbage();
  }

  /**
   * Makes V8 free unused memory beside other work, if more than 32 MiB are watched and not `used`. An idle process would otherwise
   * keep it until it needs memory for something else.
   */
  collectSoon(used: number): void {
    if (this.#bytes - used > droppedMax) collectInSteps();
  }
}
