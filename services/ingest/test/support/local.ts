/** Ingest of the one-process form without a list of sources: over a store in a file, with its API on a real port. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import type { SnapshotStore } from "@netfacts/snapshot";
import { observationsFile, openSqliteObservations, openSqliteStore } from "@netfacts/storage";
import { type LocalIngest, startLocalIngest } from "../../src/app.ts";

/** @param snapshotsPath  folder of the same store, for comparisons. @returns the ingest, whose `stop` removes its folder, too. */
export async function startLocal(snapshots: SnapshotStore, snapshotsPath = ""): Promise<LocalIngest> {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-local-ingest-"));
  const store = await openSqliteStore(join(folder, "store.sqlite"));
  const path = join(folder, observationsFile);
  const repository = await openSqliteObservations(path);
  const local = await startLocalIngest({
    config: {
      ...{ OBSERVATIONS_ROWS_MAX: 1_000, OBSERVATIONS_INTERVAL_SECONDS: 3_600, OBSERVATIONS_UPLOADS_MAX: 1 },
      ...{ OBSERVATIONS_UPLOAD_BYTES_MAX: 1_000, OBSERVATIONS_UPLOAD_SECONDS_MAX: 60 },
    },
    errorDocsBase: "/docs/errors/",
    sources: "",
    stateFolder: join(folder, "ingest"),
    store,
    snapshots,
    snapshotSource: { kind: "folder", path: snapshotsPath },
    observations: { repository, source: { kind: "sqlite", path } },
    clock: { now: () => Date.now() },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    metrics: createMetrics("ingest", createRegistry()),
  });
  return {
    ...local,
    async stop() {
      await local.stop();
      await repository.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
