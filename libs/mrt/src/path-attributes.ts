/** BGP path attributes (RFC 4271 §4.3): flags u8, type u8, length u8 or u16, value. Reads them only up to AS_PATH. */

import { readU16 } from "./bytes.ts";
import { fault } from "./fault.ts";

const extendedLength = 0x10;
const asPathType = 2;

/** `findAsPath`: the attributes are sound, but none is an AS_PATH, as some collectors write their own routes. */
export const noAsPath = -1;

/**
 * Finds the first AS_PATH among the attributes in `start`…`end`; later attributes are not checked.
 *
 * @returns the start of the attribute (see `valueStart`, `valueEnd`), `noAsPath`, or `fault.attributeOverrun`.
 */
export function findAsPath(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    // A header that `end` truncates reads the bytes after it, or undefined: the check below finds the overrun in both cases.
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
