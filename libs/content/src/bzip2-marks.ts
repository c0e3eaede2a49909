/** Finds the beginnings of bzip2 blocks without decoding: by the 48-bit mark before each, which may start at any bit of a byte. */

/** π in binary-coded decimal before a block, √π before the end of a stream: the upper and the lower 24 bits. */
export const marks = { block: [0x314159, 0x265359], end: [0x177245, 0x385090] } as const;
export type MarkKind = keyof typeof marks;
export const markBits = 48;

export interface Mark {
  readonly kind: MarkKind;
  /** Offset from the beginning of the bytes. */
  readonly bit: number;
}

const kinds: readonly MarkKind[] = ["block", "end"];

/** For a mark that begins at bit 0 to 7 of a byte, the values of the next two bytes: a flag for each kind and bit. */
const secondByte = new Uint16Array(256);
const thirdByte = new Uint16Array(256);
for (const [index, kind] of kinds.entries())
  for (let shift = 0; shift < 8; shift++) {
    const [upper] = marks[kind];
    const flag = 1 << (index * 8 + shift);
    secondByte[(upper >>> (8 + shift)) & 0xff]! |= flag;
    thirdByte[(upper >>> shift) & 0xff]! |= flag;
  }

/**
 * The first mark at or after a bit that is completely within `end` bytes; null when there is none. The content of a block may look like a mark by
 * chance, once in 2^47 bits.
 */
export function findMark(bytes: Uint8Array, fromBit: number, end: number): Mark | null {
  for (let at = fromBit >>> 3; at + 6 <= end; at++) {
    let flags = secondByte[bytes[at + 1]!]! & thirdByte[bytes[at + 2]!]!;
    for (; flags !== 0; flags &= flags - 1) {
      const flag = 31 - Math.clz32(flags & -flags);
      const kind = kinds[flag >> 3]!;
      const bit = at * 8 + (flag & 7);
      if (
        bit >= fromBit &&
        bit + markBits <= end * 8 &&
        bitsAt(bytes, bit, 24) === marks[kind][0] &&
        bitsAt(bytes, bit + 24, 24) === marks[kind][1]
      )
        return { kind, bit };
    }
  }
  return null;
}

/** @param count  1–32. */
export function bitsAt(bytes: Uint8Array, bit: number, count: number): number {
  let value = 0;
  for (let at = bit; at < bit + count; at++) value = (value << 1) | ((bytes[at >>> 3]! >>> (7 - (at & 7))) & 1);
  return value >>> 0;
}
