/** Bounded retention of stored observations: what is too old, too much, replaced or of no upload goes. */

import type { ObservationRepository, UploadRecord } from "@netfacts/storage";
import { allUploads } from "./stored-rows.ts";

export interface Retention {
  /** Observations that are older than the newest one by more than this. */
  readonly keptSeconds: number;
  readonly rowsMax: number;
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

const removedAtOnce = 2_000;
/** An upload without lines may be one that has just begun. */
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
  const geofeeds = currentGeofeeds(uploads);
  for (const { source, format, number, complete } of uploads) {
    const current = geofeeds.get(source)?.number ?? 0;
    if (format === "geofeed" && complete && number < current) await removeAll({ fromUpload: number, toUpload: number });
  }
  const newest = await repository.newest();
  if (newest !== null) await removeAll({ observedBefore: newest - keptSeconds });
  await removeAll({ oldest: true }, (await repository.rowCount()) - rowsMax);
  for (const { number, updatedAt } of uploads) {
    if (updatedAt > now - emptyMsMax) continue;
    signal.throwIfAborted();
    if (!(await repository.hasRows(number))) await repository.forget(number);
  }
  return removed;
}
