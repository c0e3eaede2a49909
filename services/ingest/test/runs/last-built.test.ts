/** With which versions of its sources a section was published last: told by the runs that are kept. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { openSqliteStore, type Store } from "@netfacts/storage";
import { createIngestMetrics } from "../../src/metrics.ts";
import { RunManager } from "../../src/runs/run-manager.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-runs-"));
let store: Store;
let runs: RunManager;

beforeAll(async () => {
  store = await openSqliteStore(join(folder, "store.sqlite"));
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const unused = () => Promise.reject(new Error("not asked for"));
  runs = new RunManager(
    {
      store,
      snapshots: { currentId: unused, getManifest: unused, getObject: unused, publish: unused },
      restore: unused,
      sources: "",
      prepare: unused,
      execute: unused,
      settle: unused,
      metrics: createIngestMetrics(createMetrics("ingest", createRegistry())),
      log: silent,
      clock: { now: () => 0 },
    },
    { signal: new AbortController().signal, confirm: unused },
    { activate: unused, resume: unused },
  );
});
afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

let saved = 0;
async function save(state: "succeeded" | "failed", section: string, kept: boolean, sha256: string, sourceSection = section): Promise<void> {
  const startedAt = 1_000 * ++saved;
  const report = {
    sections: [{ name: section, kept }],
    sources: [
      { name: "x", section: sourceSection, format: "mrt", sha256 },
      { name: "y", section: "profiles" },
    ],
  };
  await store.runs.save({ id: `run-${String(saved).padStart(5, "0")}`, startedAt, endedAt: startedAt, state, report });
}

test("the last run that built it and succeeded, also behind many that did not", async () => {
  expect(await runs.lastBuilt("routes")).toBeNull();
  await save("succeeded", "routes", false, "old");
  await save("succeeded", "routes", false, "new", "updates");
  await save("failed", "routes", false, "failed");
  await save("succeeded", "routes", true, "refused");
  for (let more = 0; more < 30; more++) await save("succeeded", "vrps", false, `${more}`);
  expect(await runs.lastBuilt("routes")).toMatchObject([{ name: "x", sha256: "new" }]);
  expect(await runs.lastBuilt("vrps")).toMatchObject([{ name: "x", sha256: "29" }]);
  expect(await runs.lastBuilt("as_names")).toBeNull();
});
