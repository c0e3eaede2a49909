/** Opens a source as its readers take it, and tells how much of it was read. */

import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { type Content, ContentError, openContent, systemReason } from "@netfacts/content";
import { headBytes, tailBytes, withLikeness } from "../readers/likeness.ts";
import { type SourceContent, SourceError } from "../readers/reader-report.ts";
import type { SourceConfig } from "../sources/index.ts";

/** Length and digest of the file as it is stored. */
export interface StoredFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** Bytes of the stored file that were read so far; `total` null = not known. */
export type BytesListener = (done: number, total: number | null) => void;

export interface OpenedSource {
  readonly content: SourceContent;
  /** Valid once the content was read to its end; tells the last bytes. */
  stored(): StoredFile;
  /** An error of reading it: of a reader, with what the file looks like where that is another format. */
  explained(error: unknown): unknown;
}

/** Why a source with a URL cannot be opened. */
export const nothingFetched = "no usable version of it was fetched";

/** Size of a file in bytes, as it is stored. Null if the system refuses it: opening it says why. */
export function storedSize(path: string): number | null {
  try {
    return statSync(path).size;
  } catch {
    return null;
  }
}

/** Throws `SourceError` for a file that cannot be opened. The content throws the reason of `signal`. */
export function openSource(source: SourceConfig, onBytes: BytesListener, signal?: AbortSignal): OpenedSource {
  if (source.fetch !== undefined && source.fetched === undefined && source.section !== "updates")
    throw new SourceError(source.location, null, nothingFetched);
  const digest = createHash("sha256");
  let content: Content;
  let total: number;
  try {
    content = openContent(source.location, (stored) => digest.update(stored));
    total = statSync(source.location).size;
  } catch (cause) {
    const reason = cause instanceof ContentError ? cause.message.replace(`${source.location}: `, "") : systemReason(cause);
    throw new SourceError(source.location, null, reason, { cause });
  }
  const head: Uint8Array[] = [];
  const tell = () => onBytes(content.bytesRead, total);
  return {
    content: {
      file: source.location,
      chunks: told(content, { tell, head }, signal),
      bytesMax: source.bytesMax,
      secondsMax: source.secondsMax,
      badRecordsMax: source.badRecordsMax,
      countErrorMax: source.countErrorMax,
      covers: source.covers,
      latestTime: Date.now() / 1000 + source.clockSkewMaxSeconds,
    },
    stored() {
      tell();
      return { bytes: content.bytesRead, sha256: digest.digest("hex") };
    },
    explained(error) {
      if (!(error instanceof SourceError)) return error;
      return withLikeness(error, { head: Buffer.concat(head), tail: tailOf(source.location) }, source.format);
    },
  };
}

/** The last bytes of the file as it is stored; none where it cannot be read. */
function tailOf(location: string): Uint8Array {
  let file: number;
  try {
    file = openSync(location, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return new Uint8Array(0);
  }
  try {
    const bytes = new Uint8Array(tailBytes);
    return bytes.subarray(0, readSync(file, bytes, 0, tailBytes, Math.max(0, fstatSync(file).size - tailBytes)));
  } catch {
    return new Uint8Array(0);
  } finally {
    closeSync(file);
  }
}

/** Tables of routes decompress to about ten times their size, lists and JSON to at most twenty. A file far beyond that is made to exhaust memory and time. */
const ratioMax = 100;
/** Up to here any ratio is harmless. */
const ratioFreeBytes = 64 << 20;

interface Told {
  readonly tell: () => void;
  /** Filled with the first bytes. */
  readonly head: Uint8Array[];
}

async function* told(content: Content, { tell, head }: Told, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  let unpacked = 0;
  let kept = 0;
  for await (const chunk of content.stream) {
    tell();
    signal?.throwIfAborted();
    unpacked += chunk.length;
    if (kept < headBytes) {
      head.push(Uint8Array.from(chunk.subarray(0, headBytes - kept)));
      kept += Math.min(chunk.length, headBytes - kept);
    }
    if (unpacked > ratioFreeBytes && unpacked > content.bytesRead * ratioMax)
      throw new Error(`decompresses to more than ${ratioMax} times its size, which such data never do`);
    yield chunk;
  }
}
