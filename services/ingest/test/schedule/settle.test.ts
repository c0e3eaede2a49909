/** What the stock notes of a run: a failure of one source leaves out no other. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { RunReport } from "../../src/pipeline/run-report.ts";
import { SourceStates } from "../../src/schedule/source-state.ts";
import { SourceStock } from "../../src/schedule/source-stock.ts";
import { readSources } from "../../src/sources/index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-settle-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a version is refused although the good one of another source cannot be noted", async () => {
  const list = join(folder, "sources.yaml");
  writeFileSync(
    list,
    `sources:
  - {name: good, section: as_names, format: autnums, location: "https://data.example.net/autnums"}
  - {name: bad, section: allocations, format: delegated, location: bad}
`,
  );
  const { sources } = await readSources(list, { files: "later" });
  // No folder can be made below a file.
  const downloads = join(folder, "downloads");
  writeFileSync(downloads, "");
  const states = await SourceStates.open(join(folder, "state.json"));
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const stock = new SourceStock({
    states,
    fetching: { downloads, userAgent: "netfacts/test", caFile: "" },
    metrics: null,
    log,
    clock: { now: () => 1 },
  });
  const files = Object.fromEntries(
    sources.map(({ name, location }) => [name, { location, sha256: name, url: null, fetchedAt: null, lastGood: null }]),
  );
  const told = (name: string, error: string | null) => ({ name, sha256: name, error, state: error === null ? "read" : "failed" });
  const report = { snapshot: {}, sections: [], sources: [told("good", null), told("bad", "is truncated")] } as unknown as RunReport;
  await expect(stock.settle(sources, files, report)).rejects.toThrow("downloads");
  const [, bad] = sources;
  expect(stock.state(bad as NonNullable<typeof bad>).refused).toMatchObject([{ sha256: "bad", error: "is truncated" }]);
});
