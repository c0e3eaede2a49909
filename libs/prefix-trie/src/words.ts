/** Masks, and typed arrays that threads can share. */

/** Netmask of a length within one 32-bit word, 0–32, as a signed integer. */
export const netmask = Int32Array.from({ length: 33 }, (_, length) => (length === 0 ? 0 : -1 << (32 - length)));

/** The netmask of word 0–3 of an IPv6 prefix. */
export function wordMask(length: number, word: number): number {
  // The index is within the 33 elements.
  return netmask[Math.max(0, Math.min(32, length - 32 * word))]!;
}

export const sharedInt32 = (length: number): Int32Array => new Int32Array(new SharedArrayBuffer(length * 4));
export const sharedUint32 = (length: number): Uint32Array => new Uint32Array(new SharedArrayBuffer(length * 4));
export const sharedUint8 = (length: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(length));
