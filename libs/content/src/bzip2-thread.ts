/** A thread that decodes blocks of bzip2, one after the other. */

import { parentPort } from "node:worker_threads";
import { BitWindow } from "./bit-window.ts";
import { BlockError, Bzip2Block } from "./bzip2-block.ts";
import { markBits } from "./bzip2-marks.ts";

/** The bytes from a block's mark to the next mark. They are transferred with the message. */
export interface BlockRequest {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** 0–7: the bit of the first byte at which the mark begins. */
  readonly bit: number;
  /** 100,000 × the stream's level. */
  readonly capacity: number;
}

/** The content of a block; null: it is not a block, or is damaged. */
export type BlockReply = {
  readonly chunks: readonly Uint8Array<ArrayBuffer>[];
  readonly crc: number;
  /** Offset of the bit after the block in the bytes of the request. */
  readonly endBit: number;
} | null;

const chunkBytes = 1 << 20;
const block = new Bzip2Block();

function decode({ bytes, bit, capacity }: BlockRequest): BlockReply {
  const bits = new BitWindow();
  bits.append(bytes);
  for (let left = bit + markBits; left > 0; left -= 24) bits.read(Math.min(left, 24));
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  try {
    const crc = block.read(bits, capacity);
    if (bits.overrun) return null;
    while (!block.done) {
      const chunk = new Uint8Array(chunkBytes);
      chunks.push(chunk.subarray(0, block.write(chunk, 0)));
    }
    return { chunks, crc, endBit: bits.position };
  } catch (error) {
    if (error instanceof BlockError) return null;
    throw error;
  }
}

parentPort?.on("message", (request: BlockRequest) => {
  const reply = decode(request);
  parentPort?.postMessage(reply, reply?.chunks.map(({ buffer }) => buffer) ?? []);
});
