/** What the stock notes of runs and of local files: a failure of one source leaves out no other, and no change of a file is missed. */

import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
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

test("a file that is written again within the unit of its time is seen, though time and size are the same", async () => {
  const list = join(folder, "sources.yaml");
  writeFileSync(list, "sources:\n  - {name: own, section: as_names, format: autnums, location: own}\n");
  const { sources } = await readSources(list, { files: "later" });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const written = 1_800_000_000;
  let now = written * 1_000 + 300;
  const stock = new SourceStock({
    states: await SourceStates.open(join(folder, "state.json")),
    fetching: { downloads: join(folder, "downloads"), userAgent: "netfacts/test", caFile: "" },
    metrics: null,
    log,
    clock: { now: () => now },
  });
  const lookAt = async (content: string) => {
    writeFileSync(join(folder, "own"), content);
    utimesSync(join(folder, "own"), written, written);
    await stock.refresh(sources, new AbortController().signal);
    return stock.state(sources[0] as (typeof sources)[number]).file;
  };
  const first = await lookAt("AS1 A\n");
  now += 60_000;
  const second = await lookAt("AS1 B\n");
  expect(second?.sha256).not.toBe(first?.sha256);
  // From then on the time says whether the file changed, so that a large one is not read at each look.
  expect(second?.mtimeMs).toBe(written * 1_000);
});
