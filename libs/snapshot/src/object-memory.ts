/** Memory for objects of snapshots, which threads share. */

import { collectInSteps } from "./released-memory.ts";

/** Bytes after which V8 is made to collect garbage: as many as it waits for with memory that it counts. */
const collectedEach = 64 * 2 ** 20;
let allocated = 0;

/**
 * Zeroed memory for an object of this length. V8 does not count shared memory, so that a process that reads one object after the other, and does
 * little else, would free none of them.
 */
export function objectMemory(bytes: number): Uint8Array<SharedArrayBuffer> {
  allocated += bytes;
  if (allocated > collectedEach) {
    allocated = 0;
    collectInSteps();
  }
  return new Uint8Array(new SharedArrayBuffer(bytes));
}
