/** Splits text that comes in chunks into lines. */

import { SourceError } from "./reader-report.ts";

/** No format that is read here has lines of nearly this length; binary content without line breaks has. */
export const lineBytesMax = 16_384;

/** Takes one line without its break, as bytes of a buffer that is valid only during the call. */
export type LineSink = (bytes: Uint8Array, start: number, end: number, line: number) => void;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Blocks of a file that were never written, as after a power cut or in a resumed copy, are NULs. No text has this many in a row. */
const nulBlock = Buffer.alloc(16);

/**
 * Calls the sink once per line. `\n` and `\r\n` end a line. An empty rest after the last break is not a line.
 *
 * @returns the number of lines, and whether the last one was ended by a break (true for an empty text).
 * @throws SourceError with the line if one is longer than `lineBytesMax`, unless such lines are skipped; with the byte for a block of NULs; and the
 * errors of the chunks.
 *
 * Cost: one native search per line; copies only lines that span two chunks.
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
        // One byte above the limit marks the line as one to skip, however long it becomes.
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

/** A text without a break after its last line was truncated: half a record could read as a whole one. `missing`: other known losses, or empty. */
export function cutLine(file: string, line: number, missing = ""): SourceError {
  const rest = missing === "" ? "if the file is complete, add one" : `it ${missing}`;
  return new SourceError(file, { line }, `is truncated: the last line has no line break; ${rest}`);
}

/** Bytes at the beginning of a text by which `isUtf16` decides. */
export const utf16Bytes = 4;

/**
 * Whether a text begins with a byte order mark of UTF-16, as programs write "Unicode", or with two ASCII characters in UTF-16 without one. No format
 * that is read here may: with its NULs removed, it would read as another text where it is not ASCII.
 */
export function isUtf16(bytes: Uint8Array): boolean {
  const [a, b, c, d] = bytes;
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return true;
  const isAscii = (one: number | undefined) => one !== undefined && one > 0 && one < 0x80;
  return (a === 0 && c === 0 && isAscii(b) && isAscii(d)) || (b === 0 && d === 0 && isAscii(a) && isAscii(c));
}

/** For a text with a block of NULs: the parts of two records around it would read as one. */
export const damagedText = "has a block of NUL bytes: it is damaged, or no text; copy or fetch it again";

export function hasNulBlock(bytes: Uint8Array): boolean {
  return nulBlockAt(bytes, 0) !== null;
}

/** Offset of a block of NULs in a chunk; negative if it begins in earlier chunks, which end with `nuls` of them. Null: there is none. */
function nulBlockAt(bytes: Uint8Array, nuls: number): number | null {
  let first = 0;
  while (first < nulBlock.length && bytes[first] === 0) first++;
  if (nuls + first >= nulBlock.length) return -nuls;
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(nulBlock);
  return at === -1 ? null : at;
}

/** NULs at the end of a chunk; with the `nuls` before it if it has nothing else. */
function nulsAtEnd(bytes: Uint8Array, nuls: number): number {
  let last = 0;
  while (last < bytes.length && bytes[bytes.length - 1 - last] === 0) last++;
  return last === bytes.length ? nuls + last : last;
}

function tooLong(file: string, line: number): SourceError {
  return new SourceError(file, { line }, `the line is longer than ${lineBytesMax} bytes`);
}
