/** Versions of a source that no run can use, and the ones before them. */

import { createHash } from "node:crypto";
import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { until } from "../../../../test/support/http.ts";
import { failedSourceReport, type RunReport } from "../../src/pipeline/run-report.ts";
import { readSources, type SourceConfig } from "../../src/sources/index.ts";
import { answer } from "../support/hostile-server.ts";
import { delegatedFile, namesFile } from "../support/made-files.ts";
import { listEverything, objectsOf, type Scheduled, scheduled } from "../support/scheduled.ts";

let world: Scheduled;
beforeEach(async () => {
  world = await scheduled();
});
afterEach(() => world.remove());

const hour = 3_600_000;
const everything = (registry?: string) => listEverything(world, registry);

test("an optional source whose new version is no good goes on with the one before, which is told", async () => {
  everything(", required: false");
  await world.look();
  const before = await world.manifest();
  world.files.set("/ripe", "<html>maintenance</html>");
  world.pass(25 * hour);
  await world.look();
  const entry = (await world.manifest())?.sections.allocations?.sources[0];
  expect(entry).toMatchObject({ accepted: 10, accepted_before: 10, sha256: before?.sections.allocations?.sources[0]?.sha256 });
  expect(entry?.error).toBe("the newest version of this source could not be used in the last run; the previous version is in use");
  expect(objectsOf(await world.manifest())).toEqual(objectsOf(before));
  const { length } = world.runs;
  expect(world.stock.state({ name: "ripe" }).refused[0]?.error).toContain("downloads/ripe/");
  // It is measured by the last good one still, and not run again until there is another.
  world.pass(hour);
  await world.look();
  expect(world.runs).toHaveLength(length);
  world.files.set("/ripe", delegatedFile("ripencc", 12, "20251122"));
  world.pass(24 * hour);
  await world.look();
  expect((await world.manifest())?.sections.allocations?.sources[0]).toMatchObject({ accepted: 12, error: null });
});

test("that the newest version of a source could not be used is told as long as it is so, also when its section is built again", async () => {
  const ripe = `  - {name: ripe, section: allocations, format: delegated, location: "URL/ripe", allow_private: true, required: false}`;
  const own = "  - {name: own, section: allocations, format: delegated, location: own}";
  writeFileSync(join(world.folder, "own"), delegatedFile("arin", 4));
  world.list(`${ripe}\n${own}`);
  const told = async () => (await world.manifest())?.sections.allocations?.sources.map(({ accepted, error }) => [accepted, error]);
  const look = async (file: string, records: number, hours = 25) => {
    world.files.set("/ripe", file);
    writeFileSync(join(world.folder, "own"), delegatedFile("arin", records));
    world.pass(hours * hour);
    await world.look();
  };
  const error = "the newest version of this source could not be used in the last run; the previous version is in use";
  await look(delegatedFile(), 4);
  await look("<html>maintenance</html>", 4);
  expect(await told()).toEqual([
    [10, error],
    [4, null],
  ]);
  await look("<html>maintenance</html>", 5, 1);
  expect(await told()).toEqual([
    [10, error],
    [5, null],
  ]);
  // Its server went back to the version before.
  await look(delegatedFile(), 5);
  expect(await told()).toEqual([
    [10, null],
    [5, null],
  ]);
  await look("<html>maintenance</html>", 5);
  await look(delegatedFile("ripencc", 12, "20251122"), 5);
  expect(await told()).toEqual([
    [12, null],
    [5, null],
  ]);
});

test("that an optional file could not be read is told until it comes back, also with the content that it had", async () => {
  const names = (content: string) => writeFileSync(join(world.folder, "names"), content);
  names(namesFile());
  world.list("  - {name: names, section: as_names, format: name-list, location: names, required: false}");
  const told = async () => (await world.manifest())?.sections.as_names?.sources.map(({ error }) => error);
  await world.look();
  expect(await told()).toEqual([null]);
  names("<html>maintenance</html>");
  world.pass(hour);
  await world.look();
  const error = "could not be read in the last run; the previous version is in use";
  expect(await told()).toEqual([error]);
  const { length } = world.runs;
  world.pass(hour);
  await world.look();
  expect([await told(), world.runs.length]).toEqual([[error], length]);
  names(namesFile());
  world.pass(hour);
  await world.look();
  expect(await told()).toEqual([null]);
  world.pass(hour);
  await world.look();
  expect(world.runs).toHaveLength(length + 1);
});

test("a bad file that is written again, unchanged, while a run reads it is not read again before its time", async () => {
  const own = join(world.folder, "own");
  writeFileSync(own, "no such format\n");
  world.list("  - {name: own, section: allocations, format: delegated, location: own}");
  await world.look();
  const [source] = (await readSources(join(world.folder, "sources.yaml"))).sources;
  const file = source && (await world.stock.ready(source, true));
  if (source === undefined || file == null) throw new Error("the file is not there");
  utimesSync(own, 1, 1);
  const failed = failedSourceReport(source, new Error("bad"));
  await world.stock.settle([source], { own: file }, { sources: [failed], sections: [] } as unknown as RunReport);
  world.pass(60_000);
  await world.look();
  expect(world.runs).toHaveLength(1);
});

test.each([true, false])(
  "a file that was being written, with the content that it had, while a run read it is read again as soon as it is whole (required: %s)",
  async (required) => {
    const own = join(world.folder, "own");
    const whole = delegatedFile("arin", 4);
    writeFileSync(own, whole);
    world.files.set("/ripe", delegatedFile());
    world.list(`  - {name: ripe, section: allocations, format: delegated, location: "URL/ripe", allow_private: true, interval: 90s}
  - {name: own, section: allocations, format: delegated, location: own, required: ${required}}`);
    const accepted = async () => (await world.manifest())?.sections.allocations?.sources.map((source) => source.accepted);
    const look = async (seconds: number) => {
      world.pass(seconds * 1_000);
      await world.look();
      return [await accepted(), world.runs.length];
    };
    expect(await look(0)).toEqual([[10, 4], 1]);
    expect(await look(60)).toEqual([[10, 4], 1]);
    // Now the other one is due, and this one is not.
    world.files.set("/ripe", delegatedFile("ripencc", 12, "20251122"));
    writeFileSync(own, whole.slice(0, -30));
    expect(await look(30)).toEqual([required ? [10, 4] : [12, 0], 2]);
    writeFileSync(own, whole);
    expect(await look(60)).toEqual([[12, 4], 3]);
    expect(await look(60)).toEqual([[12, 4], 3]);
  },
);

test.each([true, false])(
  "a file that a run did not find is read as soon as it is back, also with the same content (required: %s)",
  async (required) => {
    const own = join(world.folder, "own");
    writeFileSync(own, delegatedFile("arin", 4));
    world.files.set("/ripe", delegatedFile());
    world.list(`  - {name: ripe, section: allocations, format: delegated, location: "URL/ripe", allow_private: true}
  - {name: own, section: allocations, format: delegated, location: own, required: ${required}}`);
    const accepted = async () => (await world.manifest())?.sections.allocations?.sources.map((source) => source.accepted);
    const look = async (hours: number) => {
      world.pass(hours * hour);
      await world.look();
      return [await accepted(), world.runs.length];
    };
    expect(await look(0)).toEqual([[10, 4], 1]);
    rmSync(own);
    expect(await look(1)).toEqual([[10, 4], 1]);
    world.files.set("/ripe", delegatedFile("ripencc", 12, "20251122"));
    const without = required ? [10, 4] : [12, 0];
    expect(await look(25)).toEqual([without, 2]);
    expect(await look(1)).toEqual([without, 2]);
    writeFileSync(own, delegatedFile("arin", 4));
    expect(await look(1)).toEqual([[12, 4], 3]);
    expect(await look(1)).toEqual([[12, 4], 3]);
  },
);

test("a registry's file that was there before its .md5 is read as soon as that is there too", async () => {
  const own = join(world.folder, "own");
  const digest = (text: string) => writeFileSync(`${own}.md5`, createHash("md5").update(text).digest("hex"));
  const [first, second] = [delegatedFile("arin", 4), delegatedFile("arin", 5, "20251121")];
  writeFileSync(own, first);
  digest(first);
  world.list("  - {name: own, section: allocations, format: delegated, location: own}");
  const look = async () => {
    world.pass(60_000);
    await world.look();
    return [(await world.manifest())?.sections.allocations?.sources[0]?.accepted, world.runs.length];
  };
  expect(await look()).toEqual([4, 1]);
  writeFileSync(own, second);
  expect(await look()).toEqual([4, 2]);
  expect(await look()).toEqual([4, 2]);
  digest(second);
  expect(await look()).toEqual([5, 3]);
  expect(await look()).toEqual([5, 3]);
});

test("what is told of the version in use stays beside what is told of the newest one", async () => {
  world.list(
    `  - {name: ripe, section: allocations, format: delegated, location: "URL/ripe", allow_private: true, required: false, future_dates: warn}`,
  );
  const look = async (file: string, hours = 25) => {
    world.files.set("/ripe", file);
    world.pass(hours * hour);
    await world.look();
    return (await world.manifest())?.sections.allocations?.sources[0]?.error ?? null;
  };
  const ahead = delegatedFile("ripencc", 10, "20991231");
  const future = "the time of its data 2099-12-31T00:00:00Z is in the future by more than clock_skew_max (3600 s)";
  const earlier = "the newest version of this source could not be used in the last run; the previous version is in use";
  expect(await look(ahead)).toBe(future);
  expect(await look("<html>maintenance</html>")).toBe(`${earlier}; ${future}`);
  const { length } = world.runs;
  expect(await look("<html>maintenance</html>", 1)).toBe(`${earlier}; ${future}`);
  expect(world.runs).toHaveLength(length);
  expect(await look(ahead)).toBe(future);
  expect(await look(delegatedFile("ripencc", 12, "20251122"))).toBeNull();
});

test("a source counts as refused while its newest version cannot be used, and no longer when the one before comes back", async () => {
  const refused = async () =>
    (await world.metric("netfacts_ingest_source_refused")).map((line) => line.replace(/^.*source="(\w+)".*\}/, "$1"));
  everything(", required: false");
  await world.look();
  await world.look();
  expect(await refused()).toEqual(["rib 0", "ripe 0", "vrps 0", "names 0"]);
  const look = async (ripe: string, names: string) => {
    world.files.set("/ripe", ripe);
    writeFileSync(join(world.folder, "names"), names);
    world.pass(25 * hour);
    await world.look();
    await world.look();
  };
  await look("<html>maintenance</html>", "<html>maintenance</html>");
  expect(await refused()).toEqual(["rib 0", "ripe 1", "vrps 0", "names 1"]);
  await look(delegatedFile(), namesFile());
  expect(await refused()).toEqual(["rib 0", "ripe 0", "vrps 0", "names 0"]);
  const names = { name: "names", section: "as_names", location: join(world.folder, "names"), format: "name-list" } as SourceConfig;
  expect(await world.stock.refusal(names)).toBeNull();
});

test("a section that waits for the first check of a source is no fault until that check has failed", async () => {
  everything();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  world.server.behave((request, socket) => {
    if (request.path === "/ripe") void held.then(() => answer(socket, 503, { "retry-after": 600 }));
    else world.serve(request, socket);
  });
  world.waitFor(100);
  const warnings = () => world.log.filter(({ level }) => level === "warn").map(({ message }) => message);
  await world.look();
  expect(warnings()).toEqual([]);
  release();
  await until(() => world.stock.state({ name: "ripe" }).failures === 1);
  await world.look();
  expect(warnings()).toContain("sections are kept, because a source that they need has no usable version");
});
