/** Lines of a text that comes in pieces. */

import { SourceError } from "./reader-report.ts";

/** No line of any format read here comes near; binary content without line breaks does. */
export const lineBytesMax = 16_384;

/** One line without its break: bytes of a buffer that is valid during the call only. */
export type LineSink = (bytes: Uint8Array, start: number, end: number, line: number) => void;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Blocks of a file that were never written, as after a power cut or in a resumed copy, are NULs. No text has so many in a row. */
const nulBlock = Buffer.alloc(16);

/**
 * Calls the sink once per line; `\n` and `\r\n` end one. An empty rest after the last break is no line.
 *
 * @returns the number of lines, and whether the last of them was ended by a break (true of an empty text).
 * Throws `SourceError` with the line for one longer than `lineBytesMax`, unless such lines are skipped, with the byte for a block of NULs, and passes
 * on what the pieces throw.
 *
 * Cost: one native search per line; copies only lines that two pieces share.
 */
export async function forEachLine(
  file: string,
  chunks: AsyncIterable<Uint8Array>,
  sink: LineSink,
  longLines: "refuse" | "skip" = "refuse",
): Promise<{ lines: number; ended: boolean }> {
  const rest = Buffer.alloc(lineBytesMax + 1);
  let restLength = 0;
  let line = 0;

  const emit = (bytes: Uint8Array, start: number, end: number) => {
    line++;
    if (end - start > lineBytesMax) {
      if (longLines === "skip") return;
      throw tooLong(file, line);
    }
    sink(bytes, start, end > start && bytes[end - 1] === carriageReturn ? end - 1 : end, line);
  };

  let offset = 0;
  let nuls = 0;
  for await (const chunk of chunks) {
    if (offset === 0 && isUtf16(chunk)) throw new SourceError(file, { line: 1 }, "is UTF-16 text; save it as UTF-8");
    const block = nulBlockAt(chunk, nuls);
    if (block !== null) throw new SourceError(file, { offset: offset + block }, damagedText);
    nuls = nulsAtEnd(chunk, nuls);
    offset += chunk.length;
    let start = 0;
    while (true) {
      const end = chunk.indexOf(lineFeed, start);
      const stop = end === -1 ? chunk.length : end;
      if (restLength > 0 || end === -1) {
        const isLong = restLength + stop - start > lineBytesMax;
        if (isLong && longLines === "refuse") throw tooLong(file, line + 1);
        // One byte more than a line may have tells that it is to be skipped, however much of it follows.
        if (isLong) restLength = lineBytesMax + 1;
        else {
          rest.set(chunk.subarray(start, stop), restLength);
          restLength += stop - start;
        }
      }
      if (end === -1) break;
      if (restLength > 0) {
        const length = restLength;
        restLength = 0;
        emit(rest, 0, length);
      } else emit(chunk, start, end);
      start = end + 1;
    }
  }
  if (restLength === 0) return { lines: line, ended: true };
  emit(rest, 0, restLength);
  return { lines: line, ended: false };
}

/** A text whose last line is not ended was cut: half a record reads as a whole one. `missing`: what else is known to be missing, or empty. */
export function cutLine(file: string, line: number, missing = ""): SourceError {
  const rest = missing === "" ? "if the file is complete, add one" : `it ${missing}`;
  return new SourceError(file, { line }, `is truncated: the last line has no line break; ${rest}`);
}

/** Whether a text begins with UTF-16's byte order mark: so some programs write "Unicode". No format that is read here may. */
export function isUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** Of a text with a block of NULs, around which parts of two records would read as one. */
export const damagedText = "has a block of NUL bytes: it is damaged, or no text; copy or fetch it again";

export function hasNulBlock(bytes: Uint8Array): boolean {
  return nulBlockAt(bytes, 0) !== null;
}

/** Where a block of NULs begins in a piece, or before it (negative) where `nuls` of them end the pieces before; null: there is none. */
function nulBlockAt(bytes: Uint8Array, nuls: number): number | null {
  let first = 0;
  while (first < nulBlock.length && bytes[first] === 0) first++;
  if (nuls + first >= nulBlock.length) return -nuls;
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(nulBlock);
  return at === -1 ? null : at;
}

/** NULs at the end of a piece, with the `nuls` before one that has nothing else. */
function nulsAtEnd(bytes: Uint8Array, nuls: number): number {
  let last = 0;
  while (last < bytes.length && bytes[bytes.length - 1 - last] === 0) last++;
  return last === bytes.length ? nuls + last : last;
}

function tooLong(file: string, line: number): SourceError {
  return new SourceError(file, { line }, `the line is longer than ${lineBytesMax} bytes`);
}
