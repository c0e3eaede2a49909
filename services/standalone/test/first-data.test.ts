/** The import that a start begins with. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { openDataFolder } from "@netfacts/snapshot";
import { openSqliteStore, type Store } from "@netfacts/storage";
import { smallSources } from "../../../test/support/small-sources.ts";
import { ensureData } from "../src/first-data.ts";

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-first-data-"));
  store = await openSqliteStore(join(folder, "store.sqlite"));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await store.close();
  rmSync(folder, { recursive: true });
});

test("is kept as a run of its own, named as those of the service are, also of two at one moment", async () => {
  const moment = Date.UTC(2026, 10, 21, 8, 55);
  jest.spyOn(Date, "now").mockReturnValue(moment);
  const sources = smallSources(join(folder, "list"), "NL");
  const out = { isTTY: false, write: () => true } as unknown as NodeJS.WriteStream;
  for (let time = 0; time < 2; time++) {
    await ensureData({
      snapshots: openDataFolder(folder),
      store,
      stateFolder: join(folder, "ingest"),
      fetching: { FETCH_CONTACT: "", FETCH_CA_FILE: "" },
      sources,
      samples: "",
      out,
      signal: new AbortController().signal,
    });
  }
  const runs = await store.runs.list(10);
  expect(runs.map(({ id }) => id)).toEqual(Array(2).fill(expect.stringMatching(/^20261121T085500Z-[0-9a-f]{6}$/)));
  expect(runs.map(({ state }) => state)).toEqual(["succeeded", "succeeded"]);
});

test("says in its run and in the audit that the start began it", async () => {
  await ensureData({
    snapshots: openDataFolder(folder),
    store,
    stateFolder: join(folder, "ingest"),
    fetching: { FETCH_CONTACT: "", FETCH_CA_FILE: "" },
    sources: "",
    samples: smallSources(join(folder, "list"), "NL"),
    out: { isTTY: false, write: () => true } as unknown as NodeJS.WriteStream,
    signal: new AbortController().signal,
  });
  const [run] = await store.runs.list(1);
  expect(run?.report).toMatchObject({ started_by: "start" });
  const entries = await store.audit.list({ limit: 10 });
  expect(entries).toEqual([expect.objectContaining({ actor: "start", action: "run.start", target: run?.id, address: null, keyId: null })]);
});
