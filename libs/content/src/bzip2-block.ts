/**
 * One block of bzip2: Huffman codes, move-to-front, inverse Burrows-Wheeler transform, run lengths, CRC. Work for each byte is done in WebAssembly.
 */

import type { BitWindow } from "./bit-window.ts";
import { type Bzip2Loops, bzip2LoopsInstance } from "./bzip2-loops.ts";

/** A fault in a block; the stream adds file and offset. */
export class BlockError extends Error {}

const codeBitsMax = 20;
const symbolsMax = 258;
const codesMax = 6;

/** Faults that `readSymbols` returns. */
const faults: Readonly<Record<number, string>> = {
  [-1]: "the block is too long",
  [-2]: "a run is longer than its block",
  [-3]: "the block holds more than its level allows",
  [-4]: "the block has no end",
  [-5]: "a bit sequence is not a Huffman code",
};

export class Bzip2Block {
  readonly #loops: Bzip2Loops = bzip2LoopsInstance();
  // Views of the memory of the loops.
  readonly #lengths = this.#view(this.#loops.lengths, symbolsMax);
  readonly #selectors = this.#view(this.#loops.selectors, this.#loops.selectorsMax.value);
  readonly #recent = this.#view(this.#loops.recent, 256);
  readonly #stored = this.#view(this.#loops.stored, this.#loops.storedMax.value + this.#loops.slack.value);
  readonly #out = this.#view(this.#loops.out, this.#loops.outMax.value);
  #crc = 0;

  #view(at: { readonly value: number }, bytes: number): Uint8Array {
    return new Uint8Array(this.#loops.memory.buffer, at.value, bytes);
  }

  /** Reads a block after its mark. @returns its CRC as stored. @param capacity  100,000 × the stream's level. */
  read(bits: BitWindow, capacity: number): number {
    this.#crc = bits.read32();
    if (bits.read(1) === 1) throw new BlockError("randomised blocks, written by bzip2 before 0.9.5, are not supported");
    const origin = bits.read(24);
    const used = this.#readUsedBytes(bits);
    const codeCount = bits.read(3);
    if (codeCount < 2 || codeCount > codesMax) throw new BlockError(`${codeCount} Huffman codes`);
    const groups = this.#readSelectors(bits, codeCount);
    for (let code = 0; code < codeCount; code++) this.#readCode(bits, code, used + 2);
    const size = this.#readSymbols(bits, groups, used + 1, capacity);
    if (origin >= size) throw new BlockError("the block's origin is outside it");
    this.#loops.undoTransform(size, origin);
    this.#loops.beginRuns(size);
    return this.#crc;
  }

  /** Reads the two-level bitmap of the byte values that occur, and fills `#recent` with them. @returns how many. */
  #readUsedBytes(bits: BitWindow): number {
    const rows = bits.read(16);
    let used = 0;
    for (let row = 0; row < 16; row++) {
      if ((rows & (0x8000 >> row)) === 0) continue;
      const columns = bits.read(16);
      for (let column = 0; column < 16; column++) {
        if (columns & (0x8000 >> column)) this.#recent[used++] = row * 16 + column;
      }
    }
    if (used === 0) throw new BlockError("a block without byte values");
    return used;
  }

  /** Reads the code of each group of 50 symbols: move-to-front, unary. @returns the number of groups. */
  #readSelectors(bits: BitWindow, codeCount: number): number {
    const stored = bits.read(15);
    if (stored === 0) throw new BlockError("a block without selectors");
    const order = Uint8Array.from({ length: codeCount }, (_, code) => code);
    for (let group = 0; group < stored; group++) {
      let place = 0;
      while (bits.read(1) === 1) if (++place >= codeCount) throw new BlockError("a selector names no code");
      const code = order[place]!;
      order.copyWithin(1, 0, place);
      order[0] = code;
      // Some writers round the number up to more than a block can use; bzip2 1.0.8 reads and ignores the rest, as we do.
      if (group < this.#selectors.length) this.#selectors[group] = code;
    }
    return Math.min(stored, this.#selectors.length);
  }

  #readCode(bits: BitWindow, code: number, symbols: number): void {
    let length = bits.read(5);
    for (let symbol = 0; symbol < symbols; symbol++) {
      for (;;) {
        if (length < 1 || length > codeBitsMax) throw new BlockError(`a Huffman code of ${length} bits`);
        if (bits.read(1) === 0) break;
        length += bits.read(1) === 0 ? 1 : -1;
        if (bits.overrun) throw new BlockError("the block is too long");
      }
      this.#lengths[symbol] = length;
    }
    if (this.#loops.buildCode(code, symbols) === 0) throw new BlockError("a Huffman code has more symbols than its lengths allow");
  }

  /** @returns the number of bytes in the last column. */
  #readSymbols(window: BitWindow, groups: number, endOfBlock: number, capacity: number): number {
    const { bytes, position, end } = window;
    const from = position >>> 3;
    const to = Math.max(from, Math.min(end, from + this.#loops.storedMax.value));
    this.#stored.set(bytes.subarray(from, to));
    this.#stored.fill(0, to - from, to - from + this.#loops.slack.value);
    const size = this.#loops.readSymbols(position & 7, to - from, groups, endOfBlock, capacity);
    // After a fault too: the position distinguishes a truncated block from a damaged one.
    window.seek(position + this.#loops.bitsRead.value);
    if (size < 0) throw new BlockError(faults[size]);
    return size;
  }

  /** True when the whole block has been written. */
  get done(): boolean {
    return this.#loops.isDone() === 1;
  }

  /** Writes as much as fits into `out` from `start` on, at most 1 MiB. @returns the end position. Throws when the block ends and its CRC is wrong. */
  write(out: Uint8Array, start: number): number {
    const written = this.#loops.undoRuns(Math.min(this.#out.length, out.length - start));
    out.set(this.#out.subarray(0, written), start);
    if (this.done && this.#loops.checksum() >>> 0 !== this.#crc) throw new BlockError("the block's checksum is wrong");
    return start + written;
  }
}
