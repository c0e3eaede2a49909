/** Damage that knows nothing of a format: what a broken disk or a cut transfer does. */

import type { Random } from "../../../../test/support/random.ts";

/** One byte changed or put in, some taken out, the end cut off, or the beginning marked. */
export function bytesChanged(random: Random, bytes: Uint8Array): Uint8Array {
  const at = random(bytes.length + 1);
  switch (random(6)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Uint8Array.of(random(256)), bytes.subarray(at)]);
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.min(bytes.length, at + 1 + random(8)))]);
    case 3:
      return Buffer.concat([Uint8Array.of(0xef, 0xbb, 0xbf), bytes]);
    default: {
      const copy = Uint8Array.from(bytes);
      if (at < copy.length) copy[at] = random(256);
      return copy;
    }
  }
}
