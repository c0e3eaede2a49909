/** bzip2 with any number of streams (as pbzip2 and lbzip2 write), with every checksum verified. */

import { BitWindow } from "./bit-window.ts";
import { BlockError, Bzip2Block } from "./bzip2-block.ts";
import { marks } from "./bzip2-marks.ts";
import { ContentError } from "./content-error.ts";

const chunkBytes = 1 << 20;
/** No block that bzip2 writes takes more: 900,001 symbols of 20 bits, selectors, code lengths. A block is decoded when this much is available. */
const blockBytesMax = 3 << 20;

/** The position of a mark inside a stream, from which decoding can continue. */
export interface Bzip2State {
  /** Offset in the file at which `stored` begins, and the bit in that byte at which the mark begins. */
  readonly offset: number;
  readonly bit: number;
  /** 100,000 × the stream's level. */
  readonly capacity: number;
  /** Combined CRC of the stream's blocks so far. */
  readonly combined: number;
}

/**
 * Decompresses `stored`; `path` is for messages. Truncation, damage and trailing bytes are ContentErrors.
 *
 * @param from  null: at the beginning of the file.
 */
export async function* bunzip2(
  path: string,
  stored: AsyncIterable<Uint8Array>,
  from: Bzip2State | null = null,
): AsyncGenerator<Uint8Array, void, undefined> {
  const bits = new BitWindow(from?.offset);
  const source = stored[Symbol.asyncIterator]();
  let exhausted = false;
  let soundTo = 0;
  const refill = async () => {
    while (!exhausted && bits.left < blockBytesMax) {
      const { done, value } = await source.next();
      if (done) exhausted = true;
      else bits.append(value);
    }
  };
  const failure = (error: unknown) => {
    if (!(error instanceof BlockError)) return error;
    if (exhausted && bits.overrun)
      return new ContentError("truncated", path, soundTo, "the bzip2 data end inside the block that begins here");
    return new ContentError("damaged", path, soundTo, `the bzip2 data are damaged: ${error.message}`, { cause: error });
  };
  const block = new Bzip2Block();
  let out = new Uint8Array(chunkBytes);
  let filled = 0;
  try {
    await refill();
    if (from !== null && from.bit > 0) bits.read(from.bit);
    for (let stream = from, first = from === null; first || stream !== null || bits.left > 0; first = false, stream = null) {
      soundTo = bits.offset;
      const capacity = stream?.capacity ?? readStreamHead(bits, first, exhausted, path);
      let combined = stream?.combined ?? 0;
      for (;;) {
        await refill();
        soundTo = bits.offset;
        const crc = readMark(bits) ? block.read(bits, capacity) : null;
        if (bits.overrun) throw new BlockError("the block is too long");
        if (crc === null) break;
        combined = ((combined << 1) | (combined >>> 31)) ^ crc;
        while (!block.done) {
          filled = block.write(out, filled);
          if (filled < out.length) continue;
          yield out;
          out = new Uint8Array(chunkBytes);
          filled = 0;
        }
      }
      if (bits.read32() !== combined >>> 0) throw new BlockError("the stream's checksum is wrong");
      if (bits.overrun) throw new BlockError("the stream ends early");
      bits.alignToByte();
      await refill();
    }
  } catch (error) {
    // For readers that use the data before the fault. The last bytes may come from the damaged block.
    if (filled > 0) yield out.subarray(0, filled);
    throw failure(error);
  } finally {
    await source.return?.();
  }
  if (filled > 0) yield out.subarray(0, filled);
}

/** Reads "BZh1"–"BZh9". @returns the most bytes that a block holds before its run lengths are undone. */
function readStreamHead(bits: BitWindow, first: boolean, exhausted: boolean, path: string): number {
  const offset = bits.offset;
  const magic = bits.read(24);
  const level = bits.read(8) - 0x30;
  if (exhausted && bits.overrun && first) throw new BlockError("the stream ends early");
  if (magic === 0x425a68 && level >= 1 && level <= 9) return level * 100_000;
  if (first) throw new BlockError("this is not a bzip2 stream");
  throw new ContentError("trailing", path, offset, "the bzip2 data are followed by bytes that are not another stream");
}

/** Returns true for the mark of a block, false for that of the end of the stream. */
function readMark(bits: BitWindow): boolean {
  const mark = bits.read(24);
  const rest = bits.read(24);
  if (mark === marks.block[0] && rest === marks.block[1]) return true;
  if (mark === marks.end[0] && rest === marks.end[1]) return false;
  throw new BlockError("expected a block or the end of the stream");
}
