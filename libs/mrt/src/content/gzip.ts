/** gzip (RFC 1952), of any number of members, on zlib's own thread: the next chunk is unpacked while this one is looked at. */

import { once } from "node:events";
import { createGunzip, type Gunzip } from "node:zlib";
import { ContentError, codeOf } from "./content-error.ts";

const chunkBytes = 1 << 20;
/**
 * zlib may have four chunks ready: with one it would wait for the reader. They count, and come, one by one in object mode;
 * else Node copies what is ready into one.
 */
const options = { chunkSize: chunkBytes, readableObjectMode: true, readableHighWaterMark: 4 };

/** Unpacks `stored`; `path` is for messages. Truncation, damage and trailing bytes are ContentErrors. */
export async function* gunzip(path: string, stored: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const unpack = createGunzip(options);
  const fed = { bytes: 0, failure: null as unknown };
  const feeding = feed(unpack, stored, fed);
  try {
    for await (const chunk of unpack) yield chunk;
  } catch (cause) {
    if (fed.failure !== null) throw fed.failure;
    if (codeOf(cause) === "Z_BUF_ERROR")
      throw new ContentError("truncated", path, unpack.bytesWritten, "the gzip data end early", { cause });
    // The file began with a gzip header, so a wrong one stands behind a whole member. zlib has no code of its own for it.
    if (String(cause).includes("incorrect header check")) throw trailing(path, unpack.bytesWritten);
    throw new ContentError("damaged", path, unpack.bytesWritten, `the gzip data are damaged (${codeOf(cause) ?? cause})`, { cause });
  } finally {
    unpack.destroy();
    await feeding;
  }
  // zlib stops without a word before zeros.
  if (unpack.bytesWritten < fed.bytes) throw trailing(path, unpack.bytesWritten);
}

function trailing(path: string, offset: number): ContentError {
  return new ContentError("trailing", path, offset, "bytes follow the gzip data that are no further member");
}

/** Writes everything into `unpack`, one chunk ahead of it. A failure of `stored` destroys it, and stands in `fed`. */
async function feed(unpack: Gunzip, stored: AsyncIterable<Uint8Array>, fed: { bytes: number; failure: unknown }): Promise<void> {
  // zlib never calls back for a chunk in which it found trailing bytes, nor for one at hand when it is destroyed.
  const closed = once(unpack, "close").catch(() => undefined);
  let written: Promise<unknown> = Promise.resolve();
  try {
    for await (const chunk of stored) {
      await written;
      if (unpack.destroyed) return;
      fed.bytes += chunk.length;
      written = Promise.race([new Promise((resolve) => unpack.write(chunk, resolve)), closed]);
    }
    await written;
    unpack.end();
  } catch (failure) {
    fed.failure = failure;
    unpack.destroy(new Error("the source failed", { cause: failure }));
  }
}
