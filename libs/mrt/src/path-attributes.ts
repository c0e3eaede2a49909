/** BGP path attributes (RFC 4271 §4.3): flags u8, type u8, length u8 or u16, value. Walked only as far as AS_PATH. */

import { readU16 } from "./bytes.ts";
import { fault } from "./fault.ts";

const extendedLength = 0x10;
const asPathType = 2;

/** `findAsPath`: the attributes are sound and none is an AS_PATH, as some collectors write their own routes. */
export const noAsPath = -1;

/**
 * Finds the first AS_PATH among the attributes in `start`…`end`; what follows it is not looked at.
 *
 * @returns where the attribute begins (see `valueStart`, `valueEnd`), `noAsPath`, or `fault.attributeOverrun`.
 */
export function findAsPath(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    // A header cut off by `end` reads the bytes behind it, or undefined: either way the overrun below is told.
    const next = valueEnd(bytes, at);
    if (!(next <= end)) return fault.attributeOverrun;
    if (bytes[at + 1]! === asPathType) return at;
    at = next;
  }
  return noAsPath;
}

export function valueStart(bytes: Uint8Array, attribute: number): number {
  return attribute + (bytes[attribute]! & extendedLength ? 4 : 3);
}

export function valueEnd(bytes: Uint8Array, attribute: number): number {
  return bytes[attribute]! & extendedLength ? attribute + 4 + readU16(bytes, attribute + 2) : attribute + 3 + bytes[attribute + 2]!;
}
