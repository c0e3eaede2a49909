/** Reads a store's pointer, one reading at a time, whoever asks. */

import type { PointerWatch, SnapshotPointer } from "./snapshot-store.ts";

/**
 * Reads at each `look`, and calls the listener if the pointer differs from the last one reported. Only one reading runs at a time: a late answer must
 * not undo a newer one.
 *
 * @param read  if it fails or finds none (null), the pointer counts as unchanged.
 * @param listener  must not throw
 */
export function watchReadings(read: () => Promise<SnapshotPointer | null>, listener: (pointer: SnapshotPointer) => void): PointerWatch {
  let last: string | undefined;
  let stopped = false;
  let reading = Promise.resolve();
  /** The reading that has not begun yet; calls of `look` meanwhile share it. */
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
