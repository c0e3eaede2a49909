// What is done once for each byte of a bzip2 block, in AssemblyScript: `scripts/run.sh scripts/generated.ts` compiles it to src/bzip2-loops.wasm.ts. The head of a
// block is parsed in src/bzip2-block.ts. Nothing here trusts what was packed: each index is checked, or bounded by what was checked before.

const capacityMax: i32 = 900_000;
const codesMax: i32 = 6;
const codeBitsMax: i32 = 20;
/** Codes up to this length, nearly all of them, are decoded by one look-up. */
const fastBits: i32 = 11;
const groupSize: i32 = 50;
/** No block can use more groups. */
export const selectorsMax: i32 = capacityMax / groupSize + 2;

// Faults, worded in src/bzip2-block.ts.
const tooLong: i32 = -1;
const longRun: i32 = -2;
const tooMany: i32 = -3;
const noEnd: i32 = -4;
const noCode: i32 = -5;

// Memory. A code: u16 by the next `fastBits` bits (length << 9 | symbol; 0: a longer code); by length, u32: one more than the largest code, as if it had 20 bits,
// ascending; by length, i32: what to take from a code to have its place among u16: symbols in the order of their codes.
const limitsAt: usize = 2 << fastBits;
const basesAt: usize = limitsAt + 4 * (codeBitsMax + 1);
const sortedAt: usize = basesAt + 4 * (codeBitsMax + 1);
const codeBytes: usize = sortedAt + 2 * 258;

const codes: usize = 1024;
/** u8 by symbol: bits of its code, 1–20. Set before `buildCode`. */
export const lengths: usize = codes + codesMax * codeBytes;
/** u8 by group of 50 symbols: which code it uses, less than 6. */
export const selectors: usize = lengths + 258;
/** u8: the byte values of the block, ascending; then the one used last first. 8 bytes are read at once. */
export const recent: usize = selectors + selectorsMax;
/** u32 by byte: how often it occurs; then where the next of its places is. */
const counts: usize = (recent + 256 + 8 + 3) & ~3;
/** u32 by byte: where its places end in the first column, which is the last one sorted. */
const ends: usize = counts + 4 * 256;
/** u32 by byte: CRC-32 as bzip2 has it, most significant bit first. */
const remainders: usize = ends + 4 * 256;
/** u8: the byte of every 16th place of the first column. */
const granules: usize = remainders + 4 * 256;
/** Packed bytes: what a block's symbols take at most, 20 bits each, and what is read beyond: a group, and 8 bytes. */
export const stored: usize = granules + (capacityMax >> 4) + 1;
export const storedMax: i32 = ((selectorsMax * groupSize * codeBitsMax) >> 3) + 8;
export const slack: i32 = ((groupSize * codeBitsMax) >> 3) + 16;
/** u8: the last column, and later the block's text, which `undoRuns` reads. */
const column: usize = stored + storedMax + slack;
/** u32 by place of the first column: the place that follows << 8 | the byte. */
const one: usize = (column + capacityMax + 3) & ~3;
/** u32 by place: the place two steps on << 8 | the byte of the step between. */
const two: usize = one + 4 * capacityMax;
/** Unpacked bytes. */
export const out: usize = two + 4 * capacityMax;
export const outMax: i32 = 1 << 20;

memory.grow(<i32>((out + outMax) >> 16) + 1);
for (let byte: u32 = 0; byte < 256; byte++) {
  let crc: u32 = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc >> 31 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  store<u32>(remainders + (byte << 2), crc);
}

/** Makes the canonical Huffman code number `code` from `lengths` of `symbols` symbols. @returns false when there are more symbols than the lengths allow. */
export function buildCode(code: i32, symbols: i32): bool {
  const at = codes + <usize>code * codeBytes;
  memory.fill(at, 0, limitsAt);
  let bits: i32 = 0;
  let place: i32 = 0;
  for (let length: i32 = 1; length <= codeBitsMax; length++) {
    store<i32>(at + basesAt + (length << 2), bits - place);
    for (let symbol: i32 = 0; symbol < symbols; symbol++) {
      if (<i32>load<u8>(lengths + symbol) !== length) continue;
      if (bits >= 1 << length) return false;
      if (length <= fastBits) {
        const end = (bits + 1) << (fastBits - length);
        for (let i = bits << (fastBits - length); i < end; i++) store<u16>(at + (i << 1), <u16>((length << 9) | symbol));
      }
      store<u16>(at + sortedAt + (place++ << 1), <u16>symbol);
      bits++;
    }
    store<u32>(at + limitsAt + (length << 2), bits << (codeBitsMax - length));
    bits <<= 1;
  }
  return true;
}

/** Bits that `readSymbols` took. */
export let bitsRead: i32 = 0;

/**
 * Huffman codes, runs of the most recent byte and move-to-front in one pass.
 *
 * @param fromBit  0–7: where the first symbol begins in `stored`.
 * @param length  bytes of `stored`; zeros follow.
 * @param groups  selectors that are set.
 * @param endOfBlock  the symbol; each code has one more symbol than it, and there is one byte value less.
 * @param capacity  most bytes of the block, up to 900,000.
 * @returns bytes of the last column, or a fault.
 */
export function readSymbols(fromBit: i32, length: i32, groups: i32, endOfBlock: i32, capacity: i32): i32 {
  const end = stored + length;
  let at = stored;
  let hold: u64 = load<u8>(at++);
  let left: i32 = 8 - fromBit;
  let size: i32 = 0;
  let run: i32 = 0;
  let weight: i32 = 1;
  let result = noEnd;
  memory.fill(counts, 0, 1024);
  for (let group = 0; group < groups && result === noEnd; group++) {
    // Once for each group: zeros stand behind the end, for as much as a group takes.
    if (at > end && <i32>(at - end) * 8 > left) {
      result = tooLong;
      break;
    }
    const code = codes + <usize>load<u8>(selectors + group) * codeBytes;
    for (let i = 0; i < groupSize; i++) {
      if (left < codeBitsMax) {
        hold = (hold << 32) | <u64>bswap(load<u32>(at));
        at += 4;
        left += 32;
      }
      let entry = <i32>load<u16>(code + ((<usize>(hold >> <u64>(left - fastBits)) & ((1 << fastBits) - 1)) << 1));
      if (entry === 0) {
        const bits = <u32>(hold >> <u64>(left - codeBitsMax)) & ((1 << codeBitsMax) - 1);
        let length: i32 = fastBits + 1;
        while (length <= codeBitsMax && bits >= load<u32>(code + limitsAt + (length << 2))) length++;
        if (length > codeBitsMax) {
          result = noCode;
          break;
        }
        const place = <i32>(bits >> (codeBitsMax - length)) - load<i32>(code + basesAt + (length << 2));
        entry = (length << 9) | <i32>load<u16>(code + sortedAt + (place << 1));
      }
      left -= entry >> 9;
      const symbol = entry & 511;
      if (symbol <= 1) {
        // Bijective base 2: the first is 1 × weight, the second 2 × weight.
        run += weight << symbol;
        weight <<= 1;
        if (run > capacity) {
          result = longRun;
          break;
        }
        continue;
      }
      if (run > 0) {
        const byte = load<u8>(recent);
        if (size + run > capacity) {
          result = tooMany;
          break;
        }
        memory.fill(column + size, byte, run);
        const count = counts + ((<usize>byte) << 2);
        store<i32>(count, load<i32>(count) + run);
        size += run;
        run = 0;
        weight = 1;
      }
      if (symbol === endOfBlock) {
        result = size;
        break;
      }
      if (size >= capacity) {
        result = tooMany;
        break;
      }
      const byte = toFront(<usize>(symbol - 1));
      const count = counts + ((<usize>byte) << 2);
      store<i32>(count, load<i32>(count) + 1);
      store<u8>(column + size++, byte);
    }
  }
  bitsRead = <i32>(at - stored) * 8 - left - fromBit;
  return result;
}

/** The byte at a place of `recent`, which goes to its front. Up to 8 places are moved as one number. */
function toFront(place: usize): u8 {
  const byte = load<u8>(recent + place);
  if (place < 8) {
    const word = load<u64>(recent);
    const shift = (<u64>place) << 3;
    const behind = place === 7 ? 0 : word & ~(((<u64>1) << (shift + 8)) - 1);
    store<u64>(recent, behind | ((word & (((<u64>1) << shift) - 1)) << 8) | <u64>byte);
  } else {
    memory.copy(recent + 1, recent, place);
    store<u8>(recent, byte);
  }
  return byte;
}

/**
 * Undoes the Burrows-Wheeler transform of `size` bytes: the last column becomes the text. Each step along the links waits for memory, so that half as many of them,
 * two places at a time, pay for making the second links.
 *
 * @param origin  less than `size`.
 */
export function undoTransform(size: i32, origin: i32): void {
  linkUp(size);
  let place = <usize>origin;
  const last = column + <usize>(size & ~1);
  for (let at = column; at < last; at += 2) {
    let byte = <u32>load<u8>(granules + (place >> 4));
    while (<u32>place >= load<u32>(ends + ((<usize>byte) << 2))) byte++;
    const link = load<u32>(two + (place << 2));
    store<u16>(at, <u16>(byte | ((link & 255) << 8)));
    place = <usize>(link >> 8);
  }
  if (size & 1) store<u8>(last, <u8>load<u32>(one + (place << 2)));
}

function linkUp(size: i32): void {
  let sum: i32 = 0;
  let granule: i32 = 0;
  for (let byte: usize = 0; byte < 256; byte++) {
    const count = counts + (byte << 2);
    const next = sum + load<i32>(count);
    store<i32>(count, sum);
    store<i32>(ends + (byte << 2), next);
    for (; granule << 4 < next; granule++) store<u8>(granules + granule, <u8>byte);
    sum = next;
  }
  for (let place = 0; place < size; place++) {
    const byte = load<u8>(column + place);
    const count = counts + ((<usize>byte) << 2);
    const before = load<i32>(count);
    store<i32>(count, before + 1);
    store<u32>(one + ((<usize>before) << 2), ((<u32>place) << 8) | byte);
  }
  for (let place: usize = 0; place < <usize>size; place++)
    store<u32>(two + (place << 2), load<u32>(one + ((<usize>(load<u32>(one + (place << 2)) >> 8)) << 2)));
}

// Between calls of `undoRuns`: next byte of the text and its end; equal bytes in a row, the last one, and how often it is still to write.
let next: usize = 0;
let textEnd: usize = 0;
let row: i32 = 0;
let previous: u32 = 0;
let repeat: i32 = 0;
let remainder: u32 = 0;

/** Begins the run lengths of a text of `size` bytes. */
export function beginRuns(size: i32): void {
  next = column;
  textEnd = column + size;
  row = 0;
  previous = 256;
  repeat = 0;
  remainder = 0xffff_ffff;
}

/** Writes up to `length` bytes to `out`. @returns how many. */
export function undoRuns(length: i32): i32 {
  const outEnd = out + length;
  const fromEnd = textEnd;
  let at = out;
  let from = next;
  let equal = row;
  let before = previous;
  let again = repeat;
  let crc = remainder;
  for (;;) {
    while (again > 0 && at < outEnd) {
      store<u8>(at++, <u8>before);
      crc = (crc << 8) ^ load<u32>(remainders + ((<usize>((crc >> 24) ^ before)) << 2));
      again--;
    }
    if (from === fromEnd || at >= outEnd) break;
    const byte = <u32>load<u8>(from++);
    if (equal === 4) {
      again = byte;
      equal = 0;
      continue;
    }
    // After a count the next byte starts anew, even when it is the same.
    equal = byte === before ? equal + 1 : 1;
    before = byte;
    store<u8>(at++, <u8>byte);
    crc = (crc << 8) ^ load<u32>(remainders + ((<usize>((crc >> 24) ^ byte)) << 2));
  }
  next = from;
  row = equal;
  previous = before;
  repeat = again;
  remainder = crc;
  return <i32>(at - out);
}

/** True when nothing of the text is left to write. */
export function isDone(): bool {
  return next === textEnd && repeat === 0;
}

/** Of all bytes that `undoRuns` wrote. */
export function checksum(): u32 {
  return ~remainder;
}
