/** Lines of a text that comes in pieces. */

import { SourceError } from "./reader-report.ts";

/** No line of any format read here comes near; binary content without line breaks does. */
export const lineBytesMax = 16_384;

/** One line without its break: bytes of a buffer that is valid during the call only. */
export type LineSink = (bytes: Uint8Array, start: number, end: number, line: number) => void;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Calls the sink once per line; `\n` and `\r\n` end one. An empty rest after the last break is no line.
 *
 * @returns the number of lines, and whether the last of them was ended by a break (true of an empty text).
 * Throws `SourceError` with the line for one longer than `lineBytesMax`, unless such lines are skipped, and passes on what the pieces throw.
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

  let begun = false;
  for await (const chunk of chunks) {
    if (!begun && isUtf16(chunk)) throw new SourceError(file, { line: 1 }, "is UTF-16 text; save it as UTF-8");
    begun ||= chunk.length > 0;
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

function tooLong(file: string, line: number): SourceError {
  return new SourceError(file, { line }, `the line is longer than ${lineBytesMax} bytes`);
}
