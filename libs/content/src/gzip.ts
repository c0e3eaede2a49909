/** gzip (RFC 1952) with any number of members. */

import { createGunzip } from "node:zlib";
import { ContentError, codeOf } from "./content-error.ts";
import { Fed, streamOptions, through } from "./zlib-stream.ts";

/** Decompresses `stored`; `path` is for messages. Truncation, damage and trailing bytes are ContentErrors. */
export async function* gunzip(path: string, stored: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const unpack = createGunzip(streamOptions);
  const fed = new Fed();
  try {
    yield* through(unpack, stored, fed);
  } catch (cause) {
    if (fed.failure !== null) throw fed.failure;
    if (codeOf(cause) === "Z_BUF_ERROR")
      throw new ContentError("truncated", path, unpack.bytesWritten, "the gzip data end early", { cause });
    // The file began with a gzip header, so the wrong one comes after a complete member. zlib has no separate code for this.
    if (String(cause).includes("incorrect header check")) throw trailing(path, unpack.bytesWritten);
    throw new ContentError("damaged", path, unpack.bytesWritten, "the gzip data are damaged", { cause });
  }
  // zlib stops silently before zeros.
  if (unpack.bytesWritten < fed.bytes) throw trailing(path, unpack.bytesWritten);
}

function trailing(path: string, offset: number): ContentError {
  return new ContentError("trailing", path, offset, "the gzip data are followed by bytes that are not another member");
}
