/** Bounded retention of stored observations: what is too old, too much, replaced or of no upload goes. */

import type { ObservationRepository, UploadRecord } from "@netfacts/storage";
import { allUploads } from "./stored-rows.ts";

export interface Retention {
  /** Observations that are older than the newest one, or than now if that is of the future, by more than this. */
  readonly keptSeconds: number;
  readonly rowsMax: number;
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

const removedAtOnce = 2_000;
/** An upload without rows may be one that has just begun, and one that is not complete may still be sent. */
const emptyMsMax = 86_400_000;

/** Of each source the geofeed that counts: the last complete one. */
export function currentGeofeeds(uploads: Iterable<UploadRecord>): ReadonlyMap<string, UploadRecord> {
  const current = new Map<string, UploadRecord>();
  for (const upload of uploads) {
    if (upload.format !== "geofeed" || !upload.complete || upload.rows === 0) continue;
    const known = current.get(upload.source);
    if (known === undefined || upload.number > known.number) current.set(upload.source, upload);
  }
  return current;
}

/** Those that were replaced, that nobody goes on to send, and the oldest of those that take more than half of the room: they have no times by which rows could go. */
function geofeedsToRemove(uploads: readonly UploadRecord[], rowsMax: number, now: number): number[] {
  const current = currentGeofeeds(uploads);
  const removed: number[] = [];
  let rows = 0;
  for (const upload of uploads.filter(({ format }) => format === "geofeed").sort((a, b) => b.number - a.number)) {
    const isSent = !upload.complete && upload.updatedAt > now - emptyMsMax;
    const isKept = isSent || current.get(upload.source)?.number === upload.number;
    if (isKept) rows += upload.rows;
    if (!isKept || rows > rowsMax / 2) removed.push(upload.number);
  }
  return removed;
}

/** @returns how many rows were removed. Throws StoreError, and the signal's reason. */
export async function sweep(repository: ObservationRepository, { keptSeconds, rowsMax, now, signal }: Retention): Promise<number> {
  let removed = 0;
  const removeAll = async (selector: Parameters<ObservationRepository["remove"]>[0], most = Number.POSITIVE_INFINITY): Promise<void> => {
    for (let left = most; left > 0; ) {
      signal.throwIfAborted();
      const count = await repository.remove(selector, Math.min(left, removedAtOnce));
      removed += count;
      left -= count;
      if (count < removedAtOnce) return;
    }
  };
  const uploads: UploadRecord[] = [];
  for await (const upload of allUploads(repository)) uploads.push(upload);
  const numbers = uploads.map(({ number }) => number).sort((a, b) => a - b);
  // Lines of uploads that were deleted while they were sent.
  for (const [at, number] of numbers.entries()) {
    const first = (numbers[at - 1] ?? 0) + 1;
    if (first < number) await removeAll({ fromUpload: first, toUpload: number - 1 });
  }
  for (const number of geofeedsToRemove(uploads, rowsMax, now)) await removeAll({ fromUpload: number, toUpload: number });
  const newest = await repository.newest();
  if (newest !== null) await removeAll({ observedBefore: Math.min(newest, Math.floor(now / 1_000)) - keptSeconds });
  await removeAll({ oldest: true }, (await repository.rowCount()) - rowsMax);
  for (const { number, updatedAt } of uploads) {
    if (updatedAt > now - emptyMsMax) continue;
    signal.throwIfAborted();
    if (!(await repository.hasRows(number))) await repository.forget(number);
  }
  return removed;
}
