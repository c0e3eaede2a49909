/** The schedule as a process, as the one-process form has it, over a store of snapshots that may stand still where a test says. */

import { join } from "node:path";
import { createLogger, createMetrics, systemClock } from "@netfacts/runtime";
import { openFolderStore } from "@netfacts/snapshot";
import { openSqliteStore } from "@netfacts/storage";
import { followSources } from "../../src/app.ts";
import { stagedSource } from "./staged-store.ts";

const { FOLDER = "", SOURCES = "", GATE = "", STAGE = "" } = process.env;
const log = createLogger({ service: "ingest", level: "info", to: process.stderr });
const store = await openSqliteStore(join(FOLDER, "store.sqlite"));
const following = await followSources({
  sources: SOURCES,
  stateFolder: join(FOLDER, "ingest"),
  fetching: { FETCH_CONTACT: "", FETCH_CA_FILE: "" },
  store,
  snapshots: openFolderStore(join(FOLDER, "snapshots")),
  snapshotSource: stagedSource(join(FOLDER, "snapshots"), GATE, STAGE),
  clock: systemClock,
  log,
  metrics: createMetrics("ingest"),
});
process.once("SIGTERM", async () => {
  await following.stop();
  await store.close();
});
log.info({}, "started");
