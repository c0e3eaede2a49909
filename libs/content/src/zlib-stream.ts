/** Runs stored bytes through a decompressor of node:zlib, which works on a thread of its own: the next chunk is unpacked while this one is looked at. */

import { once } from "node:events";
import type { Transform } from "node:stream";

/** A decompressor of node:zlib; `bytesWritten` are the stored bytes that it took. */
export type Decompressor = Transform & { readonly bytesWritten: number };

export const chunkBytes = 1 << 20;
/**
 * zlib may have four chunks ready: with one it would wait for the reader. They count, and come, one by one in object mode;
 * else Node copies what is ready into one.
 */
export const streamOptions = { chunkSize: chunkBytes, readableObjectMode: true, readableHighWaterMark: 4 };

/** What went in. */
export class Fed {
  /** Handed to the decompressor, taken or not. */
  bytes = 0;
  /** The chunk handed over last, and one fetched behind it that was not. */
  last: Uint8Array | null = null;
  unused: Uint8Array | null = null;
  /** Why the source failed. */
  failure: unknown = null;

  /** What the decompressor, which has ended, left of all that. */
  rest({ bytesWritten }: Decompressor): Uint8Array[] {
    const left = this.bytes - bytesWritten;
    const tail = this.last === null || left === 0 ? [] : [this.last.subarray(this.last.length - left)];
    return this.unused === null ? tail : [...tail, this.unused];
  }
}

/** Unpacked chunks, in order. Ends where the compressed data end, which need not be where `stored` does; throws as the decompressor does. */
export async function* through(
  unpack: Decompressor,
  stored: AsyncIterable<Uint8Array>,
  fed: Fed,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = { asks: () => {} };
  const feeding = feed(unpack, stored, fed, reader);
  try {
    for await (const chunk of unpack) {
      yield chunk;
      reader.asks();
    }
  } catch (error) {
    throw fed.failure ?? error;
  } finally {
    unpack.destroy();
    await feeding;
  }
}

/** Writes everything into `unpack`, one chunk ahead of it. A failure of `stored` destroys it, and stands in `fed`. */
async function feed(unpack: Decompressor, stored: AsyncIterable<Uint8Array>, fed: Fed, reader: { asks: () => void }): Promise<void> {
  // zlib never calls back for a chunk in which it found trailing bytes, nor for one at hand when it is destroyed.
  const closed = once(unpack, "close").catch(() => undefined);
  let written: Promise<unknown> = Promise.resolve();
  try {
    for await (const chunk of stored) {
      await written;
      if (unpack.destroyed || unpack.readableEnded) {
        fed.unused = chunk;
        return;
      }
      fed.bytes += chunk.length;
      fed.last = chunk;
      written = Promise.race([new Promise((resolve) => unpack.write(chunk, resolve)), closed]);
    }
    await written;
    // The end may tell of truncation, and an error throws away what has not been fetched.
    while (unpack.readableLength > 0 && !unpack.destroyed) {
      const asked = new Promise<void>((resolve) => {
        reader.asks = resolve;
      });
      await Promise.race([asked, closed]);
    }
    unpack.end();
  } catch (failure) {
    fed.failure = failure;
    unpack.destroy(new Error("the source failed", { cause: failure }));
  }
}
