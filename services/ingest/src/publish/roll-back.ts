/** Makes an earlier snapshot the current one again, as a run of its own. It can run beside an import, which then respects the rollback. */

import { type Manifest, rollbackManifest, type SectionEntry, type SectionName, type SnapshotStore, takenBackBy } from "@netfacts/snapshot";
import type { ProgressListener } from "../pipeline/progress.ts";
import type { RunReport } from "../pipeline/run-report.ts";
import type { PublishPlace } from "../runs/publish-order.ts";

export interface Rollback {
  /** Id of the earlier snapshot. */
  readonly snapshot: string;
  /** Id of the current one. */
  readonly replaces: string;
}

export interface RollBackOptions extends Rollback {
  readonly store: Pick<SnapshotStore, "getManifest" | "getObject" | "publish" | "takenBack">;
  readonly place: PublishPlace;
  /** Called right before publishing. Throws if this process no longer leads. */
  readonly confirm: () => Promise<void>;
  readonly onProgress: ProgressListener;
  readonly signal: AbortSignal;
}

/**
 * Reads every object of the earlier snapshot, which checks the digests, and publishes it in place of the current one.
 *
 * @throws SnapshotError, in particular `PublicationConflictError` if another snapshot was published meanwhile; the signal's reason.
 */
export async function rollBack({ store, place, confirm, onProgress, signal, ...asked }: RollBackOptions): Promise<RunReport> {
  const started = performance.now();
  const current = await store.getManifest(asked.replaces);
  const manifest = rollbackManifest(current, await store.getManifest(asked.snapshot));
  const objects = [...Object.values(manifest.sections), ...Object.values(manifest.ingest_objects)];
  for (const [done, { object, bytes }] of objects.entries()) {
    signal.throwIfAborted();
    onProgress({ label: "verify", done, total: objects.length, unit: "steps" });
    await store.getObject(object, bytes);
  }
  const verified = performance.now();
  onProgress({ label: "publish", done: 0, total: 1, unit: "steps" });
  await place.turn();
  await confirm();
  // What a concurrent import has stored so far stays.
  const takenBack = takenBackBy(current, manifest, await store.takenBack());
  // `isAlone: false`, as this holds no lock of the state folder: an import of another process may have stored objects that it has not published yet.
  await store.publish(manifest, { replaces: asked.replaces, isAlone: false, takenBack });
  place.published({ replaced: asked.replaces, id: manifest.id });
  return report(manifest, { read: 0, build: 0, verify: seconds(started, verified), publish: seconds(verified, performance.now()) });
}

function report(manifest: Manifest, stages: RunReport["stages"]): RunReport {
  const sections = Object.entries(manifest.sections) as [SectionName, SectionEntry][];
  return {
    snapshot: manifest.id,
    unchanged: false,
    sample_data: manifest.sample_data,
    sources: [],
    sections: sections.map(([name, { version, counts }]) => ({ name, version, kept: true, refused: null, checked: 0, counts })),
    stages,
    peak_rss_bytes: process.memoryUsage.rss(),
    error: null,
  };
}

function seconds(from: number, to: number): number {
  return Math.round(to - from) / 1_000;
}
