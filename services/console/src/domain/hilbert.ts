/**
 * The Hilbert curve, which fills a square with a line: points that are near on the line are near in the square. A prefix is a square on it
 * (even number of bits below the whole) or two squares side by side (odd number).
 */

import { makePrefix, type Prefix } from "@netfacts/address";

export interface Cell {
  readonly x: number;
  readonly y: number;
}

export interface Rectangle extends Cell {
  readonly width: number;
  readonly height: number;
}

/**
 * The cell at a place of the line, in a square with sides of 2^order cells. The line begins in the upper left corner and ends in the upper right.
 *
 * @param place  0 to 4^order − 1.
 */
export function cellAt(order: number, place: number): Cell {
  let x = 0;
  let y = 0;
  for (let level = 0, rest = place; level < order; level++, rest >>>= 2) {
    const side = 1 << level;
    const quarter = rest & 3;
    // The first quarter is mirrored on one diagonal, the last one on the other.
    if (quarter === 0) [x, y] = [y, x];
    else if (quarter === 3) [x, y] = [2 * side - 1 - y, side - 1 - x];
    else [x, y] = [quarter === 2 ? x + side : x, y + side];
  }
  return { x, y };
}

/** The place of a cell on the line: the inverse of `cellAt`. */
export function placeAt(order: number, cell: Cell): number {
  let { x, y } = cell;
  let place = 0;
  for (let level = order - 1; level >= 0; level--) {
    const side = 1 << level;
    const isRight = x >= side;
    const isLower = y >= side;
    place *= 4;
    if (!isRight && !isLower) [x, y] = [y, x];
    else if (isRight && !isLower) {
      place += 3;
      [x, y] = [side - 1 - y, 2 * side - 1 - x];
    } else {
      place += isRight ? 2 : 1;
      x -= isRight ? side : 0;
      y -= side;
    }
  }
  return place;
}

/** Bits of a prefix after the first `from` ones, as a number; bits beyond its length are 0. */
export function bitsOf({ version, w0, w1, w2, w3 }: Prefix, from: number, bits: number): number {
  const words = version === 4 ? [w0] : [w0, w1, w2, w3];
  let value = 0;
  for (let at = from; at < from + bits; at++) value = value * 2 + (((words[at >>> 5] ?? 0) >>> (31 - (at & 31))) & 1);
  return value;
}

/** The block of 2·order bits below the whole at a place of the line. */
export function blockAt(whole: Prefix, order: number, place: number): Prefix {
  const length = whole.length + 2 * order;
  const words: [number, number, number, number] = [whole.w0, whole.w1, whole.w2, whole.w3];
  for (let bit = 0, rest = place; bit < 2 * order; bit++, rest >>>= 1) {
    const at = length - 1 - bit;
    const word = at >>> 5;
    // The first word has an IPv4 address, or the first 32 bits of an IPv6 address.
    if (rest & 1) words[word] = ((words[word] ?? 0) | (1 << (31 - (at & 31)))) >>> 0;
  }
  return makePrefix(whole.version, ...words, length);
}

/**
 * The area of a prefix in a square with sides of 2^order cells that shows the whole; one cell for a prefix smaller than a cell.
 *
 * @param inner  prefix inside `whole`.
 */
export function areaOf(whole: Prefix, order: number, inner: Prefix): Rectangle {
  const below = Math.min(inner.length - whole.length, 2 * order);
  const levels = Math.ceil(below / 2);
  const side = 1 << (order - levels);
  const bits = bitsOf(inner, whole.length, 2 * levels);
  const first = cellAt(levels, bits);
  if (below === 2 * levels) return { x: first.x * side, y: first.y * side, width: side, height: side };
  const second = cellAt(levels, bits + 1);
  return {
    x: Math.min(first.x, second.x) * side,
    y: Math.min(first.y, second.y) * side,
    width: first.x === second.x ? side : 2 * side,
    height: first.y === second.y ? side : 2 * side,
  };
}
