/** Bounded retention of stored observations: removes rows that are too old, too many, replaced, or of no upload. */

import { setImmediate as turn } from "node:timers/promises";
import type { ObservationRepository, UploadRecord } from "@netfacts/storage";
import { allUploads } from "./stored-rows.ts";

export interface Retention {
  /** Longest age of observations, counted from the newest one, or from now if that is in the future. */
  readonly keptSeconds: number;
  readonly rowsMax: number;
  /** Default: `uploadRecordsMax`. */
  readonly uploadsMax?: number;
  /** `checkedTo` of the previous sweep. Default: 0. */
  readonly checkFrom?: number;
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

export interface Swept {
  /** Rows that were removed. */
  readonly rows: number;
  /** Number of the last upload whose rows were checked; 0: all were. */
  readonly checkedTo: number;
}

/**
 * Most uploads that are kept: one every three minutes for a year. Each has a record of about 400 bytes, or 10 kB if it has invalid lines. Retention
 * and each run of `locations` read all records.
 */
export const uploadRecordsMax = 200_000;
const removedAtOnce = 2_000;
/** Most uploads whose rows are checked in one sweep: each costs a message to a database. */
const checkedAtOnce = 1_000;
/** Uploads between two turns of the event loop, which the file store would block otherwise. */
const turnEvery = 100;
/** Time for which an upload without rows is kept, since it may have just begun, and one that is not complete, since it may still be sent. */
const emptyMsMax = 86_400_000;

/** The geofeed of each source that counts: the last complete one. */
export function currentGeofeeds(uploads: Iterable<UploadRecord>): ReadonlyMap<string, UploadRecord> {
  const current = new Map<string, UploadRecord>();
  for (const upload of uploads) {
    if (upload.format !== "geofeed" || !upload.complete || upload.rows === 0) continue;
    const known = current.get(upload.source);
    if (known === undefined || upload.number > known.number) current.set(upload.source, upload);
  }
  return current;
}

/**
 * Geofeeds to remove: those that were replaced, those that are no longer being sent, and the oldest of those that take more than half of
 * the rows or of the uploads. Geofeeds have no times by which rows could expire.
 */
function geofeedsToRemove(geofeeds: readonly UploadRecord[], { rowsMax, uploadsMax = uploadRecordsMax, now }: Retention): UploadRecord[] {
  const current = currentGeofeeds(geofeeds);
  const removed: UploadRecord[] = [];
  let [rows, kept] = [0, 0];
  for (const upload of geofeeds.toSorted((a, b) => b.number - a.number)) {
    const isSent = !upload.complete && upload.updatedAt > now - emptyMsMax;
    const isKept = isSent || current.get(upload.source)?.number === upload.number;
    if (isKept) [rows, kept] = [rows + upload.rows, kept + 1];
    if (!isKept || rows > rowsMax / 2 || kept > uploadsMax / 2) removed.push(upload);
  }
  return removed;
}

/** Yields to the event loop. @throws StoreError, and the signal's reason */
export async function sweep(repository: ObservationRepository, retention: Retention): Promise<Swept> {
  const { keptSeconds, rowsMax, uploadsMax = uploadRecordsMax, checkFrom = 0, now, signal } = retention;
  let rows = 0;
  const removeAll = async (selector: Parameters<ObservationRepository["remove"]>[0], most = Number.POSITIVE_INFINITY): Promise<void> => {
    for (let left = most; left > 0; ) {
      signal.throwIfAborted();
      const count = await repository.remove(selector, Math.min(left, removedAtOnce));
      rows += count;
      left -= count;
      if (count < removedAtOnce) return;
    }
  };
  const uploads: Pick<UploadRecord, "number" | "updatedAt" | "offset" | "lines" | "complete">[] = [];
  const geofeeds: UploadRecord[] = [];
  const beyond: number[] = [];
  for await (const upload of allUploads(repository)) {
    const { number, updatedAt, offset, lines, complete, format } = upload;
    uploads.push({ number, updatedAt, offset, lines, complete });
    if (format === "geofeed") geofeeds.push(upload);
    else if (uploads.length > uploadsMax) beyond.push(number);
  }
  for (const upload of geofeedsToRemove(geofeeds, retention)) {
    const { number, complete } = upload;
    // First, so that it cannot be continued: its end alone would count as the whole geofeed. If it was continued since it was read, it stays.
    if (!complete && !(await repository.forget(number, upload))) continue;
    await removeAll({ fromUpload: number, toUpload: number });
  }
  for (const number of beyond) {
    await removeAll({ fromUpload: number, toUpload: number });
    await repository.forget(number);
  }
  const newest = await repository.newest();
  if (newest !== null) await removeAll({ observedBefore: Math.min(newest, Math.floor(now / 1_000)) - keptSeconds });
  await removeAll({ oldest: true }, (await repository.rowCount()) - rowsMax);
  const forgotten = new Set(beyond);
  const left = uploads.filter(({ number }) => number > checkFrom && !forgotten.has(number)).reverse();
  const checked = left.slice(0, checkedAtOnce);
  let before = checkFrom;
  for (const upload of checked) {
    const { number, updatedAt } = upload;
    signal.throwIfAborted();
    // Removes lines of uploads that were deleted while they were sent. An upload that has just begun may have a number, and no record yet.
    if (number > before + 1 && updatedAt <= now - emptyMsMax) await removeAll({ fromUpload: before + 1, toUpload: number - 1 });
    before = number;
    if (updatedAt <= now - emptyMsMax && !(await repository.hasRows(number))) await repository.forget(number, upload);
    if (number % turnEvery === 0) await turn();
  }
  return { rows, checkedTo: checked.length < left.length ? before : 0 };
}
