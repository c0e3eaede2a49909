/** One import as a process: its outcome as a line of JSON. */

import { openFolderStore } from "@netfacts/snapshot";
import { IngestError, importSources, readSources } from "../../src/app.ts";

const [sources = "", stateFolder = "", snapshots = ""] = process.argv.slice(2);
const notes: string[] = [];
try {
  const report = await importSources({
    config: await readSources(sources),
    store: openFolderStore(snapshots),
    stateFolder,
    onNote: (note) => void notes.push(note),
  });
  console.log(JSON.stringify({ snapshot: report.snapshot, notes }));
} catch (error) {
  const isUnwritten = error instanceof IngestError && error.isUnwritten;
  console.log(JSON.stringify({ error: (error as Error).message, isUnwritten, notes }));
}
