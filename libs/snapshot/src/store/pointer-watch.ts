/** Readings of a store's pointer: one after the other, whoever asks for them. */

import type { PointerWatch, SnapshotPointer } from "./snapshot-store.ts";

/**
 * Reads at each `look`, and tells what differs from what it told before. Only one reading is under way: an answer that is late must not undo
 * one that came after it.
 *
 * @param read  While it fails or finds none (null), the pointer is what it was before.
 * @param listener  must not throw
 */
export function watchReadings(read: () => Promise<SnapshotPointer | null>, listener: (pointer: SnapshotPointer) => void): PointerWatch {
  let last: string | undefined;
  let stopped = false;
  let reading = Promise.resolve();
  /** Has not begun: whoever asks meanwhile is given this one. */
  let next: Promise<void> | null = null;
  const readNow = async (): Promise<void> => {
    next = null;
    if (stopped) return;
    const pointer = await read().catch(() => null);
    if (stopped || pointer === null) return;
    const text = JSON.stringify(pointer);
    if (text === last) return;
    last = text;
    listener(pointer);
  };
  return {
    look() {
      if (next === null) {
        next = reading.then(readNow);
        reading = next;
      }
      return next;
    },
    stop() {
      stopped = true;
    },
  };
}
