/** One block of bzip2: Huffman codes, move-to-front, inverse Burrows-Wheeler transform, run lengths, CRC. Hot loops over typed arrays: indices are in range by construction, hence `!`. */

import type { BitWindow } from "./bit-window.ts";

/** What is wrong with a block; the stream adds file and offset. */
export class BlockError extends Error {}

const groupSize = 50;
const codeBitsMax = 20;
/** Codes up to this length, nearly all of them, are decoded by one table look-up. */
const fastBits = 10;
const symbolsMax = 258;
const selectorsMax = 18_002;
/** Of `#sorted`. */
const granuleBits = 4;
const runA = 0;
const runB = 1;

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});

/** A canonical Huffman code. */
class Code {
  /** By the next `fastBits` bits: length << 9 | symbol; 0 for longer codes. */
  readonly fast = new Uint16Array(1 << fastBits);
  /** By length: one more than the largest code, as if it had 20 bits; ascending. */
  readonly #limit = new Uint32Array(codeBitsMax + 1);
  /** By length: what to take from a code to have its place in `#sorted`. */
  readonly #base = new Int32Array(codeBitsMax + 1);
  readonly #sorted = new Uint16Array(symbolsMax);

  build(lengths: Uint8Array, count: number): void {
    const { fast } = this;
    const sorted = this.#sorted;
    fast.fill(0);
    let code = 0;
    let place = 0;
    for (let length = 1; length <= codeBitsMax; length++) {
      this.#base[length] = code - place;
      for (let symbol = 0; symbol < count; symbol++) {
        if (lengths[symbol] !== length) continue;
        if (code >= 1 << length) throw new BlockError("a Huffman code has more symbols than its lengths allow");
        if (length <= fastBits) {
          const from = code << (fastBits - length);
          fast.fill((length << 9) | symbol, from, from + (1 << (fastBits - length)));
        }
        sorted[place++] = symbol;
        code++;
      }
      this.#limit[length] = code << (codeBitsMax - length);
      code <<= 1;
    }
  }

  /** A code longer than `fastBits`. @param bits  the next 20 bits. @returns length << 9 | symbol. */
  slow(bits: number): number {
    for (let length = fastBits + 1; length <= codeBitsMax; length++) {
      if (bits < this.#limit[length]!) {
        return (length << 9) | this.#sorted[(bits >>> (codeBitsMax - length)) - this.#base[length]!]!;
      }
    }
    throw new BlockError("a bit sequence is not a Huffman code");
  }
}

export class Bzip2Block {
  /** The last column of the transform. */
  readonly #column: Uint8Array;
  // By place in the first column, which is the last one sorted: the place that follows. The walk along them jumps about, each step waiting for the last:
  // 20 bits and not 32 keep nearly all of them in a core's own cache, where other processes do not reach.
  /** The lower 16 bits. */
  readonly #low: Uint16Array;
  /** The upper 4, of two places in a byte. */
  readonly #high: Uint8Array;
  /** By byte: where its places end in the first column. */
  readonly #ends = new Uint32Array(256);
  /** The byte of every 16th place in the first column. */
  readonly #sorted: Uint8Array;
  readonly #codes = Array.from({ length: 6 }, () => new Code());
  readonly #selectors = new Uint8Array(selectorsMax);
  readonly #lengths = new Uint8Array(symbolsMax);
  readonly #recent = new Uint8Array(256);
  readonly #counts = new Uint32Array(256);
  #capacity = 0;
  /** Bytes still to come out of the transform, and the place of the next. */
  #left = 0;
  #place = 0;
  /** Equal bytes in a row; after four comes a count of further ones. */
  #run = 0;
  #previous = -1;
  #repeat = 0;
  #crc = 0;
  #crcExpected = 0;

  constructor(capacityMax: number) {
    this.#column = new Uint8Array(capacityMax);
    this.#low = new Uint16Array(capacityMax);
    this.#high = new Uint8Array((capacityMax >> 1) + 1);
    this.#sorted = new Uint8Array((capacityMax >> granuleBits) + 1);
  }

  /** Reads a block behind its mark. @returns its CRC as stored. @param capacity  100,000 × the stream's level. */
  read(bits: BitWindow, capacity: number): number {
    this.#capacity = capacity;
    this.#crcExpected = bits.read32();
    if (bits.read(1) === 1) throw new BlockError("randomised blocks, written by bzip2 before 0.9.5, are not supported");
    const origin = bits.read(24);
    const used = this.#readUsedBytes(bits);
    const codeCount = bits.read(3);
    if (codeCount < 2 || codeCount > 6) throw new BlockError(`${codeCount} Huffman codes`);
    const groups = this.#readSelectors(bits, codeCount);
    for (let code = 0; code < codeCount; code++) this.#readCode(bits, this.#codes[code]!, used + 2);
    const size = this.#readSymbols(bits, groups, used + 1);
    if (origin >= size) throw new BlockError("the block's origin is outside it");
    this.#linkUp(size);
    this.#left = size;
    this.#place = origin;
    this.#run = 0;
    this.#previous = -1;
    this.#repeat = 0;
    this.#crc = -1;
    return this.#crcExpected;
  }

  /** Two-level bitmap of the byte values that occur. Fills `#recent` with them. @returns how many. */
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

  /** Which code each group of 50 symbols uses: move-to-front, unary. @returns how many groups. */
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
      // Some writers round the number up beyond what a block can use; bzip2 1.0.8 reads and ignores the rest, and so do we.
      if (group < selectorsMax) this.#selectors[group] = code;
    }
    return Math.min(stored, selectorsMax);
  }

  #readCode(bits: BitWindow, code: Code, symbols: number): void {
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
    code.build(this.#lengths, symbols);
  }

  /** Huffman, zero runs and move-to-front in one pass. @returns how many bytes now stand in `#column`. */
  #readSymbols(window: BitWindow, groups: number, endOfBlock: number): number {
    const column = this.#column;
    const recent = this.#recent;
    const counts = this.#counts;
    const capacity = this.#capacity;
    const bytes = window.bytes;
    let { at, hold, count } = window;
    let size = 0;
    let runLength = 0;
    let runWeight = 1;
    counts.fill(0);
    try {
      for (let group = 0; group < groups; group++) {
        if ((at - window.end) * 8 > count) throw new BlockError("the block is too long");
        const code = this.#codes[this.#selectors[group]!]!;
        const fast = code.fast;
        for (let i = 0; i < groupSize; i++) {
          if (count < 16) {
            hold = (hold << 16) | (bytes[at]! << 8) | bytes[at + 1]!;
            at += 2;
            count += 16;
          }
          let entry = fast[(hold >>> (count - fastBits)) & ((1 << fastBits) - 1)]!;
          if (entry === 0) {
            if (count < codeBitsMax) {
              hold = (hold << 8) | bytes[at++]!;
              count += 8;
            }
            entry = code.slow((hold >>> (count - codeBitsMax)) & ((1 << codeBitsMax) - 1));
          }
          count -= entry >>> 9;
          const symbol = entry & 511;
          if (symbol <= runB) {
            // Bijective base 2: A is 1 × weight, B is 2 × weight.
            runLength += symbol === runA ? runWeight : 2 * runWeight;
            runWeight *= 2;
            if (runLength > capacity) throw new BlockError("a run is longer than its block");
            continue;
          }
          if (runLength > 0) {
            const byte = recent[0]!;
            if (size + runLength > capacity) throw new BlockError("the block holds more than its level allows");
            column.fill(byte, size, size + runLength);
            counts[byte]! += runLength;
            size += runLength;
            runLength = 0;
            runWeight = 1;
          }
          if (symbol === endOfBlock) {
            return size;
          }
          if (size >= capacity) throw new BlockError("the block holds more than its level allows");
          const place = symbol - 1;
          const byte = recent[place]!;
          if (place > 15) recent.copyWithin(1, 0, place);
          else for (let k = place; k > 0; k--) recent[k] = recent[k - 1]!;
          recent[0] = byte;
          counts[byte]!++;
          column[size++] = byte;
        }
      }
      throw new BlockError("the block has no end");
    } finally {
      // On errors too: how far it came tells a truncated block from a damaged one.
      window.at = at;
      window.hold = hold;
      window.count = count;
    }
  }

  #linkUp(size: number): void {
    const column = this.#column;
    const low = this.#low;
    const high = this.#high;
    const ends = this.#ends;
    const sorted = this.#sorted;
    const next = this.#counts;
    let sum = 0;
    let granule = 0;
    for (let byte = 0; byte < 256; byte++) {
      const count = next[byte]!;
      next[byte] = sum;
      sum += count;
      ends[byte] = sum;
      for (; granule << granuleBits < sum; granule++) sorted[granule] = byte;
    }
    high.fill(0, 0, (size >> 1) + 1);
    for (let place = 0; place < size; place++) {
      const before = next[column[place]!]!++;
      low[before] = place;
      high[before >> 1]! |= (place >>> 16) << ((before & 1) << 2);
    }
  }

  /** True when the whole block has been written. */
  get done(): boolean {
    return this.#left === 0 && this.#repeat === 0;
  }

  /** Writes what fits into `out` from `start` on. @returns where it stopped. Throws when the block ends and its CRC is wrong. */
  write(out: Uint8Array, start: number): number {
    const low = this.#low;
    const high = this.#high;
    const ends = this.#ends;
    const sorted = this.#sorted;
    const end = out.length;
    let at = start;
    let left = this.#left;
    let place = this.#place;
    let run = this.#run;
    let previous = this.#previous;
    let repeat = this.#repeat;
    let crc = this.#crc;
    for (;;) {
      while (repeat > 0 && at < end) {
        out[at++] = previous;
        crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ previous]!;
        repeat--;
      }
      if (left === 0 || at >= end) break;
      let byte = sorted[place >> granuleBits]!;
      while (place >= ends[byte]!) byte++;
      place = low[place]! | (((high[place >> 1]! >>> ((place & 1) << 2)) & 15) << 16);
      left--;
      if (run === 4) {
        repeat = byte;
        run = 0;
        continue;
      }
      // After a count `run` is 0: the next byte starts anew even when it is the same.
      run = byte === previous ? run + 1 : 1;
      previous = byte;
      out[at++] = byte;
      crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ byte]!;
    }
    this.#left = left;
    this.#place = place;
    this.#run = run;
    this.#previous = previous;
    this.#repeat = repeat;
    this.#crc = crc;
    if (this.done && ~crc >>> 0 !== this.#crcExpected) throw new BlockError("the block's checksum is wrong");
    return at;
  }
}
