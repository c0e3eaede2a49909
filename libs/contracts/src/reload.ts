/** What ingest and the pods tell each other about snapshots: subjects and payloads. */

import Type, { type Static } from "typebox";
import { Check } from "typebox/value";

/** Broadcasts; each is a hint that makes fast what the store's pointer says anyway. */
export const reloadSubjects = {
  /** By ingest, `SnapshotNotice`: load it, and say how that went. */
  published: "dataset.published",
  /** By ingest, `SnapshotNotice`: serve it. */
  activate: "dataset.activate",
  /** By pods, `PodReport`: at their start, every few seconds, and when something was loaded or refused. */
  loaded: "pods.loaded",
} as const;

export const SnapshotNotice = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) });
export type SnapshotNotice = Static<typeof SnapshotNotice>;

const nullableId = Type.Unsafe<string | null>({ type: ["string", "null"], maxLength: 64 });

export const PodReport = Type.Object({
  /** Name of the pod, the same from its start to its end and no other pod's. */
  pod: Type.String({ minLength: 1, maxLength: 253 }),
  service: Type.String({ minLength: 1, maxLength: 64 }),
  /** The snapshot that answers; null: none yet. */
  serving: nullableId,
  /** The snapshot that was loaded or refused last; null: none yet. */
  snapshot: nullableId,
  outcome: Type.Unsafe<"loaded" | "refused" | null>({ enum: ["loaded", "refused", null] }),
  /** Why it was refused. */
  reason: Type.Unsafe<string | null>({ type: ["string", "null"], maxLength: 2_000 }),
});
export type PodReport = Static<typeof PodReport>;

/** A notice as it came over the network; null when it is none. */
export function readSnapshotNotice(payload: unknown): SnapshotNotice | null {
  return Check(SnapshotNotice, payload) ? payload : null;
}

/** A report as it came over the network; null when it is none. */
export function readPodReport(payload: unknown): PodReport | null {
  return Check(PodReport, payload) ? payload : null;
}
