/** Zstandard (RFC 8878) with any number of frames (as pzstd writes), including skippable ones. Dictionaries are not supported. */

import { createZstdDecompress } from "node:zlib";
import { ContentError, codeOf } from "./content-error.ts";
import { Fed, streamOptions, through } from "./zlib-stream.ts";

/** RFC 8878 §3.1.1 and §3.1.2, little endian. */
const frameMagic = 0xfd2fb528;
const skippableMagic = 0x184d2a50;
const headBytes = 8;
/**
 * A reader checks its limits when content arrives, so it could not stop a file of empty frames. pzstd writes one skippable frame for each frame with
 * content.
 */
const emptyFramesMax = 1_000;

/** The stored bytes, some of which can be given back. Frames are read from it in turn, and do not close it. */
class Source implements AsyncIterable<Uint8Array> {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #back: Uint8Array[] = [];

  constructor(stored: AsyncIterable<Uint8Array>) {
    this.#chunks = stored[Symbol.asyncIterator]();
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    const value = this.#back.shift();
    return value === undefined ? this.#chunks.next() : { value, done: false };
  }

  giveBack(chunks: readonly Uint8Array[]): void {
    this.#back = [...chunks.filter(({ length }) => length > 0), ...this.#back];
  }

  /** Returns up to `length` bytes without removing them. */
  async peek(length: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for (let had = 0; had < length; ) {
      const { value, done } = await this.next();
      if (done) break;
      pieces.push(value);
      had += value.length;
    }
    const all = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    this.giveBack([all]);
    return all.subarray(0, length);
  }

  /** @returns how many of `length` bytes were missing. */
  async skip(length: number): Promise<number> {
    let left = length;
    while (left > 0) {
      const { value, done } = await this.next();
      if (done) break;
      if (value.length > left) this.giveBack([value.subarray(left)]);
      left -= Math.min(left, value.length);
    }
    return left;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.next() };
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

/** Decompresses `stored`; `path` is for messages. Truncation, damage, trailing bytes and too many empty frames in a row are ContentErrors. */
export async function* unzstd(path: string, stored: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const source = new Source(stored);
  /** Offset of the current frame. */
  let offset = 0;
  /** Number of consecutive frames without content. */
  let empty = 0;
  try {
    for (;;) {
      if (empty > emptyFramesMax)
        throw new ContentError("unsupported", path, offset, `more than ${emptyFramesMax} zstd frames in a row have no content`);
      const head = await source.peek(headBytes);
      if (head.length === 0) return;
      const view = new DataView(head.buffer, head.byteOffset, head.length);
      const magic = head.length < 4 ? 0 : view.getUint32(0, true);
      if (magic >>> 4 === skippableMagic >>> 4) {
        const size = head.length < headBytes ? headBytes : headBytes + view.getUint32(4, true);
        if ((await source.skip(size)) > 0) throw truncated(path, offset);
        offset += size;
        empty++;
      } else if (magic === frameMagic) {
        const { storedBytes, hasContent } = yield* frame(path, source, offset);
        offset += storedBytes;
        if (hasContent) empty = 0;
        else empty++;
      } else {
        throw new ContentError("trailing", path, offset, "the zstd data are followed by bytes that are not another frame");
      }
    }
  } finally {
    await source.close();
  }
}

interface FrameRead {
  /** Size of the whole frame. */
  readonly storedBytes: number;
  readonly hasContent: boolean;
}

async function* frame(path: string, source: Source, offset: number): AsyncGenerator<Uint8Array, FrameRead, undefined> {
  const unpack = createZstdDecompress(streamOptions);
  const fed = new Fed();
  let hasContent = false;
  try {
    for await (const chunk of through(unpack, source, fed)) {
      hasContent = true;
      yield chunk;
    }
  } catch (cause) {
    if (fed.failure !== null) throw fed.failure;
    const at = offset + unpack.bytesWritten;
    if (codeOf(cause) === "Z_BUF_ERROR") throw truncated(path, at, cause);
    throw new ContentError("damaged", path, at, `the zstd data are damaged (${codeOf(cause) ?? cause})`, { cause });
  }
  source.giveBack(fed.rest(unpack));
  return { storedBytes: unpack.bytesWritten, hasContent };
}

function truncated(path: string, offset: number, cause?: unknown): ContentError {
  return new ContentError("truncated", path, offset, "the zstd data end early", { cause });
}
