/** Opens a file of any compression, which is recognised by its first bytes and never by its name. */

import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { bunzip2InThreads } from "./bzip2-threads.ts";
import { ContentError, systemReason } from "./content-error.ts";
import { gunzip } from "./gzip.ts";
import { unzstd } from "./zstd.ts";

export type Compression = "none" | "gzip" | "bzip2" | "zstd";

export interface Content {
  readonly path: string;
  readonly compression: Compression;
  /** Bytes of the stored file that have been read so far: the base of progress and ETA. */
  readonly bytesRead: number;
  /** Decompressed chunks of up to 1 MiB, pulled: nothing is read ahead without limit. Iterate once; leaving early closes the file. */
  readonly stream: AsyncIterable<Uint8Array>;
}

const readBytes = 1 << 20;
/** Minimum size of a read. A small file does not take 1 MiB, as more garbage leads to more garbage collections. */
const leastReadBytes = 1 << 16;
/** Enough bytes to recognise the compression. */
const headBytes = 8;

/** Compressions that are recognised only to be refused with a message, instead of being read as garbage. */
const refused: readonly (readonly [name: string, magic: readonly number[]])[] = [
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ["zip", [0x50, 0x4b, 0x03, 0x04]],
  ["compress", [0x1f, 0x9d]],
];

/**
 * @param onRead  gets every chunk of the stored file, in order (for a digest); it must not keep or change it.
 * @throws ContentError `unreadable` or `unsupported` at once; the stream throws it for later faults. A pipe or a device is unreadable: opening one
 * may block the process until somebody writes, and it may have no end.
 */
export function openContent(path: string, onRead?: (stored: Uint8Array) => void): Content {
  const compression = compressionOf(path, readHead(path));
  let bytesRead = 0;
  async function* stored(): AsyncGenerator<Uint8Array, void, undefined> {
    const file = await openFile(path);
    const explained = (cause: unknown): never => {
      throw unreadable(path, bytesRead, cause);
    };
    try {
      const stat = await file.stat().catch(explained);
      // Anything other than a file has no known size.
      const size = stat.isFile() ? stat.size : Number.POSITIVE_INFINITY;
      for (;;) {
        const buffer = Buffer.allocUnsafeSlow(Math.min(readBytes, Math.max(size - bytesRead, leastReadBytes)));
        const { bytesRead: length } = await file.read(buffer, 0, buffer.length, null).catch(explained);
        if (length === 0) return;
        bytesRead += length;
        const chunk = buffer.subarray(0, length);
        onRead?.(chunk);
        yield chunk;
      }
    } finally {
      await file.close();
    }
  }
  return {
    path,
    compression,
    get bytesRead() {
      return bytesRead;
    },
    stream: { [Symbol.asyncIterator]: () => unpacked(path, compression, stored()) },
  };
}

/**
 * The decompressed content of `stored`, which can be read only once: standard input, or an HTTP body. Iterate once.
 *
 * @param name  name of the input in messages.
 * The stream throws ContentError like that of `openContent`, including `unsupported` and `unreadable`.
 */
export async function* unpackStream(name: string, stored: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  const chunks = stored[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  let had = 0;
  while (had < headBytes) {
    const { value, done } = await chunks.next();
    if (done) break;
    first.push(value);
    had += value.length;
  }
  const start = Buffer.concat(first);
  async function* whole(): AsyncGenerator<Uint8Array, void, undefined> {
    if (start.length > 0) yield start;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  yield* unpacked(name, compressionOf(name, start.subarray(0, headBytes)), whole());
}

function unpacked(path: string, compression: Compression, stored: AsyncGenerator<Uint8Array, void, undefined>) {
  switch (compression) {
    case "none":
      return stored;
    case "gzip":
      return gunzip(path, stored);
    case "bzip2":
      return bunzip2InThreads(path, stored);
    case "zstd":
      return unzstd(path, stored);
  }
}

/** Recognises the compression by the first bytes. Throws ContentError `unsupported`. */
function compressionOf(path: string, head: Uint8Array): Compression {
  const startsWith = (magic: readonly number[]) => magic.every((byte, index) => head[index] === byte);
  if (startsWith([0x1f, 0x8b])) return "gzip";
  // "BZh" alone could begin a text; the level and the first byte of either mark decide.
  if (
    startsWith([0x42, 0x5a, 0x68]) &&
    head[3]! >= 0x31 &&
    head[3]! <= 0x39 &&
    (head[4] === 0x31 || head[4] === 0x17 || head.length === 4)
  ) {
    return "bzip2";
  }
  if (
    startsWith([0x28, 0xb5, 0x2f, 0xfd]) ||
    (head[0]! >>> 4 === 5 && [0x2a, 0x4d, 0x18].every((byte, index) => head[index + 1] === byte))
  ) {
    return "zstd";
  }
  const known = refused.find(([, magic]) => startsWith(magic));
  if (known !== undefined)
    throw new ContentError("unsupported", path, 0, `${known[0]} compression is not supported; decompress it, or use gzip, bzip2 or zstd`);
  return "none";
}

function readHead(path: string): Uint8Array {
  const head = Buffer.alloc(headBytes);
  let found: Stats;
  try {
    found = statSync(path);
  } catch (cause) {
    throw unreadable(path, 0, cause);
  }
  // A folder is reported when it is read.
  if (!found.isFile() && !found.isDirectory())
    throw new ContentError("unreadable", path, 0, "the file cannot be read: it is a pipe, a socket or a device");
  try {
    const descriptor = openSync(path, "r");
    try {
      return head.subarray(0, readSync(descriptor, head, 0, head.length, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    throw unreadable(path, 0, cause);
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (cause) {
    throw unreadable(path, 0, cause);
  }
}

function unreadable(path: string, offset: number, cause: unknown): ContentError {
  return new ContentError("unreadable", path, offset, `the file cannot be read: ${systemReason(cause)}`, { cause });
}
