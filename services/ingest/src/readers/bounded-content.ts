/** The chunks of a source within its bounds of size and time. Every failure is reported as one of the source. */

import { ContentError } from "@netfacts/content";
import { type SourceContent, SourceError } from "./reader-report.ts";

/** Counts the content that passed; read it after or during the iteration. */
export interface ContentMeter {
  bytes: number;
  seconds(): number;
}

/**
 * Passes the chunks on.
 *
 * @throws SourceError with the offset if the content is longer or takes longer than allowed, or if it cannot be read (a disk, damaged compression):
 * then `cause` is the original error.
 */
export function boundedContent(content: SourceContent): { chunks: AsyncIterable<Uint8Array>; meter: ContentMeter } {
  const started = performance.now();
  const meter: ContentMeter = { bytes: 0, seconds: () => (performance.now() - started) / 1000 };
  return { chunks: pass(content, meter), meter };
}

async function* pass(content: SourceContent, meter: ContentMeter): AsyncGenerator<Uint8Array> {
  const { file, bytesMax, secondsMax } = content;
  const pieces = content.chunks[Symbol.asyncIterator]();
  try {
    while (true) {
      let next: IteratorResult<Uint8Array>;
      try {
        next = await pieces.next();
      } catch (cause) {
        throw unreadable(file, meter.bytes, cause);
      }
      if (next.done) return;
      if (meter.bytes + next.value.length > bytesMax)
        throw new SourceError(file, { offset: bytesMax }, `is longer than the ${bytesMax} bytes that bytes_max allows`);
      if (meter.seconds() > secondsMax)
        throw new SourceError(file, { offset: meter.bytes }, `took longer than the ${secondsMax} s that seconds_max allows`);
      meter.bytes += next.value.length;
      yield next.value;
    }
  } finally {
    await pieces.return?.();
  }
}

/** For damaged compression the offset is in the compressed file; otherwise it is the end of what was read. */
function unreadable(file: string, bytes: number, cause: unknown): SourceError {
  const { message } = cause as Error;
  if (!(cause instanceof ContentError)) return new SourceError(file, { offset: bytes }, message, { cause });
  const reason = message.replace(`${cause.path}: `, "").replace(/ \(at byte \d+ of the file\)$/, " (byte of the stored file)");
  return new SourceError(file, { offset: cause.offset }, reason, { cause });
}
