/** The history that a run carries on: that of the snapshot before it. */

import {
  checkHistory,
  decodeColumns,
  type HistoryColumns,
  historyFormat,
  SectionFormatError,
  SnapshotError,
  SnapshotUnavailableError,
} from "@netfacts/snapshot";
import type { Run } from "./run.ts";

/** Its name among the objects of a manifest that only ingest reads. What the sample dataset shows is no past of the operator's own data. */
export function historyObject(sampleData: boolean): string {
  return sampleData ? "history/sample" : "history";
}

export interface LastHistory {
  /** null: there is none, or it cannot be used. */
  readonly columns: HistoryColumns | null;
  /** Why it cannot be used; null: it can, or there is none. */
  readonly fault: string | null;
}

/**
 * A missing or damaged history is told and counts as none: routes of now matter more than when they were first seen, and the snapshot that
 * had it whole can be gone back to. A store that does not answer ends the run, as it would be taken for the same.
 *
 * Throws `SnapshotUnavailableError`.
 */
export async function readLastHistory({ store, config, replaces, previous }: Run): Promise<LastHistory> {
  if (previous === null) return { columns: null, fault: replaces === null ? null : `the manifest of ${replaces} cannot be read` };
  const object = previous.ingest_objects[historyObject(config.sampleData)];
  if (object === undefined) return { columns: null, fault: null };
  try {
    const columns = decodeColumns(historyFormat, await store.getObject(object.object, object.bytes));
    checkHistory(columns);
    return { columns, fault: null };
  } catch (error) {
    const isDamaged = error instanceof SectionFormatError || error instanceof SnapshotError;
    if (!isDamaged || error instanceof SnapshotUnavailableError) throw error;
    return { columns: null, fault: error.message };
  }
}
