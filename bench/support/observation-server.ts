/** Ingest's server for uploads as a separate process, over SQLite or MongoDB. Arguments: the folder and, for MongoDB, the URI. */

import { join } from "node:path";
import { startLocalIngest } from "@netfacts/ingest/app";
import { createLogger, createMetrics, systemClock } from "@netfacts/runtime";
import { openDataFolder, snapshotsFolder } from "@netfacts/snapshot";
import { observationsFile, openSqliteObservations, openSqliteStore } from "@netfacts/storage";
import { openMongoStore } from "@netfacts/storage/mongo";

const [folder = "", uri] = process.argv.slice(2);
const store = await openSqliteStore(join(folder, "store.sqlite"));
const path = join(folder, observationsFile);
const observations =
  uri === undefined
    ? { repository: await openSqliteObservations(path), source: { kind: "sqlite", path } as const }
    : { repository: (await openMongoStore(uri)).observations, source: { kind: "mongo", uri } as const };
const sources = join(folder, "sources.yaml");
const ingest = await startLocalIngest({
  config: {
    OBSERVATIONS_ROWS_MAX: 200_000_000,
    // The benchmark starts the run.
    OBSERVATIONS_INTERVAL_SECONDS: 86_400,
    OBSERVATIONS_UPLOADS_MAX: 4,
    OBSERVATIONS_UPLOAD_BYTES_MAX: Number.MAX_SAFE_INTEGER,
    OBSERVATIONS_UPLOAD_SECONDS_MAX: 86_400,
  },
  errorDocsBase: "/docs/errors/",
  sources,
  stateFolder: join(folder, "ingest"),
  store,
  snapshots: openDataFolder(folder),
  snapshotSource: { kind: "folder", path: join(folder, snapshotsFolder) },
  observations,
  clock: systemClock,
  log: createLogger({ service: "bench", level: "error" }),
  metrics: createMetrics("ingest"),
});
await ingest.follow({ sources, fetching: { FETCH_CONTACT: "", FETCH_CA_FILE: "" } });
// End with the parent process.
process.once("disconnect", () => process.exit());
process.send?.({ url: ingest.url, proxyToken: ingest.proxyToken });
