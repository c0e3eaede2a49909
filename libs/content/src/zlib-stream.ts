/**
 * Runs stored bytes through a decompressor of node:zlib, which works on a thread of its own: the next chunk is decompressed while the reader
 * processes this one.
 */

import { once } from "node:events";
import type { Transform } from "node:stream";

/** A decompressor of node:zlib; `bytesWritten` is the number of stored bytes that it used. */
export type Decompressor = Transform & { readonly bytesWritten: number };

export const chunkBytes = 1 << 20;
/**
 * zlib may prepare four chunks: with one it would wait for the reader. Object mode counts and returns chunks one by one; otherwise Node copies all
 * prepared chunks into one.
 */
export const streamOptions = { chunkSize: chunkBytes, readableObjectMode: true, readableHighWaterMark: 4 };

/** The input of a decompressor. */
export class Fed {
  /** Number of bytes passed to the decompressor, used or not. */
  bytes = 0;
  /** The chunk that was passed last, and one that was fetched after it and not passed. */
  last: Uint8Array | null = null;
  unused: Uint8Array | null = null;
  /** The reason why the source failed. */
  failure: unknown = null;

  /** The input that the decompressor, which has ended, did not use. */
  rest({ bytesWritten }: Decompressor): Uint8Array[] {
    const left = this.bytes - bytesWritten;
    const tail = this.last === null || left === 0 ? [] : [this.last.subarray(this.last.length - left)];
    return this.unused === null ? tail : [...tail, this.unused];
  }
}

/** Decompressed chunks, in order. Ends where the compressed data end, which may be before the end of `stored`; throws the decompressor's errors. */
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

/** Writes everything to `unpack`, one chunk ahead of it. If `stored` fails, `unpack` is destroyed, and `fed.failure` has the error. */
async function feed(unpack: Decompressor, stored: AsyncIterable<Uint8Array>, fed: Fed, reader: { asks: () => void }): Promise<void> {
  // zlib never calls back for a chunk in which it found trailing bytes, or for a chunk in progress when it is destroyed.
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
    // Ending the input may reveal truncation, and that error discards chunks that are not fetched yet.
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
