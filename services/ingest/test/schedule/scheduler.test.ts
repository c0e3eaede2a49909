/** The schedule: who is asked when, what is built of it, and what happens when a source fails. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openSqliteObservations } from "@netfacts/storage";
import { until } from "../../../../test/support/http.ts";
import { Scheduler } from "../../src/schedule/scheduler.ts";
import { receive } from "../../src/uploads/receive.ts";
import { storedNow } from "../../src/uploads/stored-source.ts";
import { answer } from "../support/hostile-server.ts";
import { delegatedFile, namesFile, ribFile, vrpFile } from "../support/made-files.ts";
import { listEverything, objectsOf, type Scheduled, scheduled } from "../support/scheduled.ts";
import { observation } from "../support/uploading.ts";

let world: Scheduled;
beforeEach(async () => {
  world = await scheduled();
});
afterEach(() => world.remove());

const minute = 60_000;
const hour = 60 * minute;

const everything = (registry?: string, vrps?: string) => listEverything(world, registry, vrps);

test("the first look fetches all and makes one run of it", async () => {
  everything();
  expect((await world.look()).sort()).toEqual(["/rib", "/ripe", "/ripe.md5", "/vrps"]);
  expect(world.runs).toEqual([["routes", "allocations", "vrps", "as_names"]]);
  expect(Object.keys((await world.manifest())?.sections ?? {}).sort()).toEqual(["allocations", "as_names", "routes", "vrps"]);
  expect(await world.look()).toEqual([]);
  expect(world.runs).toHaveLength(1);
});

test("VRPs are replaced without touching anything else", async () => {
  everything();
  await world.look();
  const before = objectsOf(await world.manifest());
  world.pass(hour);
  expect(await world.look()).toEqual(["/vrps"]);
  // Nothing new: 304, and no run.
  expect(world.server.requests.at(-1)?.headers["if-none-match"]).toBeDefined();
  expect(world.runs).toHaveLength(1);
  world.files.set("/vrps", vrpFile(9, "2025-11-21T09:50:12Z"));
  world.pass(hour);
  expect(await world.look()).toEqual(["/vrps"]);
  expect(world.runs.slice(1)).toEqual([["vrps"]]);
  const after = objectsOf(await world.manifest());
  expect({ ...after, vrps: before.vrps }).toEqual(before);
  expect(after.vrps).not.toBe(before.vrps);
});

test("with new routes the VRPs are built again too, as it follows from the routes which of them are loose", async () => {
  everything();
  await world.look();
  world.files.set("/rib", ribFile(21));
  world.pass(8 * hour);
  expect((await world.look()).sort()).toEqual(["/rib", "/vrps"]);
  expect(world.runs.slice(1)).toEqual([["routes", "vrps"]]);
});

test("times that were missed are made up for once", async () => {
  everything();
  await world.look();
  world.pass(30 * 24 * hour);
  await world.restart();
  expect((await world.look()).sort()).toEqual(["/rib", "/ripe", "/vrps"]);
  expect(await world.look()).toEqual([]);
});

test("a restart asks nobody before it is time", async () => {
  everything();
  await world.look();
  await world.restart();
  world.pass(10 * minute);
  expect(await world.look()).toEqual([]);
  expect(world.runs).toHaveLength(1);
});

test("what is due within moments is asked for along with the rest, and makes one run", async () => {
  everything();
  world.files.delete("/ripe");
  await world.look();
  // The server asked for 10 minutes of patience; the VRPs are due in an hour.
  world.files.set("/ripe", delegatedFile());
  world.pass(10 * minute - 20_000);
  expect(await world.look()).toEqual([]);
  world.pass(10_000);
  expect(await world.look()).toEqual([]);
  world.pass(10_000);
  expect(await world.look()).toEqual(["/ripe", "/ripe.md5"]);
});

test("a pause that a server asks for is kept although it is longer than the interval, also over a restart", async () => {
  world.server.behave((_request, socket) => answer(socket, 503, { "retry-after": 6 * 3_600 }));
  // A file is looked at each minute, and other sources that are due within moments with it.
  writeFileSync(join(world.folder, "names"), namesFile());
  world.list(`  - {name: names, section: as_names, format: name-list, location: names}
  - {name: vrps, section: vrps, format: rpki-client-json, location: "URL/vrps", allow_private: true, interval: 1h}`);
  expect(await world.look()).toEqual(["/vrps"]);
  world.pass(2 * hour);
  expect(await world.look()).toEqual([]);
  await world.restart();
  world.pass(4 * hour - 70_000);
  expect(await world.look()).toEqual([]);
  world.pass(minute);
  expect(await world.look()).toEqual([]);
  world.pass(10_000);
  expect(await world.look()).toEqual(["/vrps"]);
});

test("a file that is a pipe is told, not waited for; the other sections are built", async () => {
  everything();
  const names = join(world.folder, "names");
  rmSync(names);
  execFileSync("mkfifo", [names]);
  await world.look();
  expect(world.runs).toEqual([["routes", "allocations", "vrps"]]);
  expect(world.stock.state({ name: "names" })).toMatchObject({ failures: 1, error: `${names}: expected a file` });
});

test("a required source that is away keeps back its own section, and no other", async () => {
  everything();
  world.files.delete("/ripe");
  await world.look();
  expect(world.runs).toEqual([["routes", "vrps", "as_names"]]);
  expect(world.stock.state({ name: "ripe" })).toMatchObject({
    failures: 1,
    error: expect.stringContaining("the server returned status 503; the server asks not to be contacted"),
  });
  const told = world.log.filter(({ level }) => level === "warn").map(({ message }) => message);
  expect(told).toEqual([
    "a source is unavailable; its last good data, if any, remain in use",
    "sections are kept, because a source that they need has no usable version",
  ]);
  world.files.set("/ripe", delegatedFile());
  world.pass(11 * minute);
  await world.look();
  expect(world.runs.slice(1)).toEqual([["allocations"]]);
  expect(world.stock.state({ name: "ripe" })).toMatchObject({ failures: 0, error: null });
});

test("a source that was there and is away goes on with what is here; the others of its section too", async () => {
  everything(", required: false");
  world.files.set("/arin", delegatedFile("arin", 5));
  world.list(`
  - {name: ripe, section: allocations, format: delegated, location: "URL/ripe", allow_private: true, required: false}
  - {name: arin, section: allocations, format: delegated, location: "URL/arin", allow_private: true}`);
  await world.look();
  const before = await world.manifest();
  world.files.delete("/ripe");
  world.files.set("/arin", delegatedFile("arin", 6, "20251121"));
  world.pass(25 * hour);
  await world.look();
  expect(world.runs.slice(1)).toEqual([["allocations"]]);
  const sources = (await world.manifest())?.sections.allocations?.sources;
  expect(sources?.map(({ name, accepted, error }) => [name, accepted, error])).toEqual([
    ["ripe", 10, null],
    ["arin", 6, null],
  ]);
  expect(sources?.[0]?.sha256).toBe(before?.sections.allocations?.sources[0]?.sha256);
});

test("a required source whose new version is no good keeps back its own section, and is not run again and again", async () => {
  everything();
  await world.look();
  const before = objectsOf(await world.manifest());
  world.files.set("/ripe", "<html>maintenance</html>");
  world.files.set("/vrps", vrpFile(9, "2025-11-21T09:50:12Z"));
  world.pass(25 * hour);
  await world.look();
  expect(world.runs.slice(1)).toEqual([["allocations", "vrps"], ["vrps"]]);
  const after = objectsOf(await world.manifest());
  expect(after.allocations).toBe(before.allocations);
  expect(after.vrps).not.toBe(before.vrps);
  expect(world.stock.state({ name: "ripe" }).refused[0]?.error).toContain("downloads/ripe/");
  world.pass(2 * hour);
  await world.look();
  expect(world.runs).toHaveLength(3);
  // Its next version is tried at once.
  world.files.set("/ripe", delegatedFile("ripencc", 11, "20251122"));
  world.pass(24 * hour);
  await world.look();
  expect(world.runs.slice(3)).toEqual([["allocations"]]);
  expect(world.stock.state({ name: "ripe" }).refused).toEqual([]);
});

test("under other bounds a version that was refused is tried again", async () => {
  everything();
  await world.look();
  world.files.set("/ripe", delegatedFile("ripencc", 5, "20251122"));
  world.pass(25 * hour);
  await world.look();
  expect(world.stock.state({ name: "ripe" }).refused[0]?.error).toContain("shrank by more than shrink_max");
  everything(", shrink_max: 60%");
  world.files.set("/ripe", delegatedFile("ripencc", 5, "20251122"));
  await world.look();
  expect(world.stock.state({ name: "ripe" }).refused).toEqual([]);
  expect((await world.manifest())?.sections.allocations?.sources[0]?.accepted).toBe(5);
});

test("a section that shrank too much is not built again of the same, and its versions count as used by nobody", async () => {
  everything(", required: false");
  world.files.set("/arin", delegatedFile("arin").replaceAll("11.0.", "12.0."));
  const more =
    '\n  - {name: arin, section: allocations, format: delegated, location: "URL/arin", allow_private: true, required: false, interval: 1h}';
  world.list(`  - {name: ripe, section: allocations, format: delegated, location: "URL/ripe", allow_private: true, interval: 1h}${more}`);
  await world.look();
  const before = (await world.manifest())?.sections.allocations;
  // Each file loses less than it may, as nothing is known of the other by now.
  world.list(`  - {name: ripe, section: allocations, format: delegated, location: "URL/ripe", allow_private: true, interval: 1h, shrink_max: 90%}${more}
section_shrink_max: {allocations: 20%}`);
  world.files.set("/ripe", delegatedFile("ripencc", 2, "20251121"));
  world.pass(hour);
  await world.look();
  expect(world.runs).toHaveLength(2);
  const kept = await world.manifest();
  expect(kept?.sections.allocations).toMatchObject({
    object: before?.object,
    sources: [{ error: expect.stringContaining("had shrunk") }, { error: expect.stringContaining("had shrunk") }],
  });
  await world.look();
  await world.look();
  expect(world.runs).toHaveLength(2);
  expect(await world.manifest()).toEqual(kept);
  world.files.set("/ripe", delegatedFile("ripencc", 9, "20251122"));
  world.pass(hour);
  await world.look();
  expect(world.runs).toHaveLength(3);
  expect((await world.manifest())?.sections.allocations?.counts).toMatchObject({ ipv4: 19 });
});

test("a section that shrank too much counts as refused until its sources are whole again, or it leaves the list", async () => {
  const refused = async () =>
    (await world.metric("netfacts_ingest_section_refused")).map((line) => line.replace(/^.*section="(\w+)".*\}/, "$1"));
  const errors = async () => (await world.manifest())?.sections.allocations?.sources.map(({ error }) => error);
  everything();
  const ripe =
    '{name: ripe, section: allocations, format: delegated, location: "URL/ripe", allow_private: true, interval: 1h, shrink_max: 90%}';
  const names = "{name: names, section: as_names, format: name-list, location: names}";
  world.list(`  - ${ripe}\n  - ${names}\nsection_shrink_max: {allocations: 20%}`);
  await world.look();
  const look = async (content: string) => {
    world.files.set("/ripe", content);
    world.pass(hour);
    await world.look();
  };
  for (let time = 0; time < 2; time++) {
    await look(delegatedFile("ripencc", 2));
    expect(await refused()).toEqual(["allocations 1", "as_names 0"]);
    // The very file that is in service.
    await look(delegatedFile());
    expect(await refused()).toEqual(["allocations 0", "as_names 0"]);
    expect(await errors()).toEqual([null]);
    const { length } = world.runs;
    await look(delegatedFile());
    expect(world.runs).toHaveLength(length);
  }
  await look(delegatedFile("ripencc", 2));
  world.list(`  - ${names}`);
  await world.look();
  expect(await refused()).toEqual(["as_names 0"]);
});

test("a list with faults is told once, and what was right before goes on afterwards", async () => {
  everything();
  await world.look();
  world.list("  - {name: rib}");
  world.pass(hour);
  await world.look();
  await world.look();
  expect(world.log.filter(({ message }) => message.startsWith("sources.yaml has errors"))).toHaveLength(1);
  const faults = async () => Number((await world.metric("netfacts_ingest_list_faults"))[0]?.split(" ").at(-1));
  expect(await faults()).toBeGreaterThan(0);
  everything();
  expect(await world.look()).toEqual(["/vrps"]);
  expect(await faults()).toBe(0);
});

test("why no look succeeds is told once, however often it is tried, and again after one that succeeded", async () => {
  everything();
  let reason: string | null = null;
  const currentId = async () => (reason === null ? null : Promise.reject(new Error(reason)));
  const snapshots = { ...world.store, currentId };
  const run = async () => ({ ok: false, message: "no run", report: null }) as const;
  const runs = { run, runBeside: run, idle: async () => undefined, wholeRuns: 0 };
  const told: string[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (fields: object) => void told.push(`${(fields as { err?: Error }).err}`),
  };
  const ending = new AbortController();
  const sources = join(world.folder, "sources.yaml");
  const scheduler = new Scheduler({ sources, stock: world.stock, snapshots, runs, clock: world, log, signal: ending.signal });
  scheduler.start();
  for (const next of ["the store is away", "the store is away", "it refuses", null, "it refuses"]) {
    await scheduler.ended();
    reason = next;
    world.pass(hour); // longer than a failed run delays the next one
    scheduler.poke();
  }
  await scheduler.ended();
  ending.abort();
  expect(told.filter((text) => text !== "undefined")).toEqual(["Error: the store is away", "Error: it refuses", "Error: it refuses"]);
});

test("a source that was taken off the list leaves the snapshot with its section's next run", async () => {
  everything();
  world.files.set("/arin", delegatedFile("arin", 5));
  const [ripe, arin] = ["ripe", "arin"].map(
    (name) => `  - {name: ${name}, section: allocations, format: delegated, location: "URL/${name}", allow_private: true}`,
  );
  world.list(`${ripe}\n${arin}`);
  await world.look();
  world.list(`${ripe}`);
  await world.look();
  expect(world.runs.slice(1)).toEqual([["allocations"]]);
  expect((await world.manifest())?.sections.allocations?.sources.map(({ name }) => name)).toEqual(["ripe"]);
});

test("a source whose downloads cannot be read keeps its own section as it is, and no other", async () => {
  everything();
  await world.look();
  const state = join(world.folder, "downloads", "ripe", "state.json");
  renameSync(state, `${state}.away`);
  symlinkSync(state, state);
  world.files.set("/vrps", vrpFile(9, "2025-11-21T09:50:12Z")).set("/ripe", delegatedFile("ripencc", 11));
  world.pass(25 * hour);
  await world.look();
  expect(world.runs.at(-1)).toEqual(["vrps"]);
  rmSync(state);
  renameSync(`${state}.away`, state);
  world.pass(25 * hour);
  await world.look();
  expect(world.runs.at(-1)).toEqual(["allocations"]);
});

test("an optional table whose download cannot be read keeps routes and VRPs as they are", async () => {
  everything();
  world.files.set("/more", ribFile(7));
  const listed = readFileSync(join(world.folder, "sources.yaml"), "utf8");
  writeFileSync(
    join(world.folder, "sources.yaml"),
    `${listed}\n  - {name: more, section: routes, format: mrt, location: "${world.server.url}/more", allow_private: true, required: false}\n`,
  );
  await world.look();
  const before = world.runs.length;
  const state = join(world.folder, "downloads", "more", "state.json");
  rmSync(state);
  symlinkSync(state, state);
  world.files.set("/rib", ribFile(21));
  world.pass(8 * hour);
  await world.look();
  expect(world.runs.slice(before)).toEqual([]);
});

test("downloads of a source that left the list go after a week, and those of the others stay", async () => {
  everything();
  await world.look();
  const downloads = join(world.folder, "downloads");
  const known = () => Object.keys(JSON.parse(readFileSync(join(world.folder, "schedule.json"), "utf8"))).sort();
  const used = (source: string, ago: number) =>
    utimesSync(join(downloads, source), new Date(world.now() - ago), new Date(world.now() - ago));
  const before = readdirSync(downloads).sort();
  // That one is a file.
  const all = [...before, "names"].sort();
  expect(known()).toEqual(all);
  // As they were left by a server that was away for a month: what counts is that they are listed.
  for (const source of before) used(source, 30 * 24 * hour);
  world.pass(2 * hour);
  await world.look();
  world.list(`  - {name: vrps, section: vrps, format: rpki-client-json, location: "URL/vrps", allow_private: true}`);
  world.pass(6 * 24 * hour);
  await world.look();
  expect([readdirSync(downloads).sort(), known()]).toEqual([before, all]);
  world.pass(2 * 24 * hour);
  await world.look();
  expect([readdirSync(downloads), known()]).toEqual([["vrps"], ["vrps"]]);
});

test("what was due while the clock was ahead is due again when it was set back, after a restart too", async () => {
  everything();
  await world.look();
  world.pass(400 * 24 * hour);
  expect(await world.look()).toContain("/vrps");
  world.pass(-400 * 24 * hour);
  await world.restart();
  writeFileSync(join(world.folder, "names"), namesFile(11));
  world.files.set("/vrps", vrpFile(9, "2025-11-21T09:50:12Z"));
  expect(await world.look()).toContain("/vrps");
  expect(world.runs.at(-1)).toEqual(["vrps", "as_names"]);
  // From then on as always.
  expect(await world.look()).toEqual([]);
});

test("after a failure that is no source's the next run waits, longer each time, unless a run of everything succeeds meanwhile", async () => {
  everything();
  world.failRuns("the store is away");
  const runsAfter = async (seconds: number) => {
    world.pass(seconds * 1_000);
    await world.look();
    return world.runs.length;
  };
  expect([await runsAfter(0), await runsAfter(50), await runsAfter(15), await runsAfter(65), await runsAfter(60)]).toEqual([1, 1, 2, 2, 3]);
  world.wholeRun();
  expect([await runsAfter(1), await runsAfter(50), await runsAfter(15)]).toEqual([4, 4, 5]);
  world.wholeRun();
  world.failRuns(null);
  await runsAfter(1);
  expect(Object.keys((await world.manifest())?.sections ?? {})).toHaveLength(4);
});

test("stored observations that cannot be read are tried again after a minute, and keep nothing else back", async () => {
  await world.remove();
  world = await scheduled({ version: async () => ({ revision: 1, rows: 1 }) });
  everything();
  await world.look();
  const others = ["routes", "allocations", "vrps", "as_names"];
  expect(world.runs).toEqual([[...others, "locations"], others]);
  await world.look();
  expect(world.runs).toHaveLength(2);
  world.pass(minute);
  await world.look();
  expect(world.runs.slice(2)).toEqual([["locations"]]);
  world.pass(minute);
  await world.look();
  expect(world.runs).toHaveLength(3);
  world.pass(minute);
  await world.look();
  expect(world.runs).toHaveLength(4);
});

test("a deletion does not wait for a broken geofeed: its version before counts until there is a newer one", async () => {
  await world.remove();
  const folder = mkdtempSync(join(tmpdir(), "netfacts-stored-"));
  const repository = await openSqliteObservations(join(folder, "observations.sqlite"));
  try {
    world = await scheduled(storedNow(repository), repository);
    const uploaded = async (id: string) => {
      const upload = await repository.begin({ id, format: "ndjson", source: "a", keyId: null }, world.now());
      const body = async function* () {
        yield Buffer.from(`${observation("192.0.2.1")}\n`);
      };
      const bounds = { bytesMax: 1e6, secondsMax: 60, rowsMax: 1e6, skewSeconds: 0, clock: world };
      await receive({ ...bounds, repository, upload, offset: 0, body: body(), isPart: false });
      return upload;
    };
    const upload = await uploaded("a");
    const listFeed = (also = "") =>
      world.list(
        `  - {name: feed, section: locations, format: geofeed, location: "URL/feed", allow_private: true, interval: 1h, shrink_max: 100%${also}}`,
      );
    world.files.set("/feed", "20.0.0.0/24,NL,,Delft,\n");
    listFeed();
    const read = async () => (await world.manifest())?.sections.locations?.sources.map(({ name, accepted }) => `${name} ${accepted}`);
    await world.look();
    expect(await read()).toEqual(["feed 1", "stored observations 1"]);
    world.files.set("/feed", "<html>");
    world.pass(2 * hour);
    await world.look();
    expect(world.runs.slice(1)).toEqual([["locations"]]);
    await repository.remove({ fromUpload: upload.number, toUpload: upload.number }, 10);
    await world.look();
    expect(await read()).toEqual(["feed 1"]);
    // What is broken is not tried again for that.
    await world.look();
    expect(world.runs.slice(2)).toEqual([["locations"]]);
    expect(world.stock.state({ name: "feed" }).refused).not.toEqual([]);
    // Nor is it told again, as somebody who uploads every minute would fill the log.
    expect(world.log.filter(({ message }) => message.startsWith("sections are kept"))).toHaveLength(1);
    world.files.set("/feed", "20.0.0.0/24,NL,,Gouda,\n20.0.1.0/24,NL,,Gouda,\n");
    world.pass(2 * hour);
    await world.look();
    expect(await read()).toEqual(["feed 2"]);
    // Where no version is within the bounds any more, each is tried once.
    world.files.set("/feed", "<html>");
    world.pass(2 * hour);
    await world.look();
    const { length } = world.runs;
    listFeed(", bytes_max: 12");
    await uploaded("b");
    for (let looks = 0; looks < 4; looks++) {
      await world.look();
      world.pass(minute / 2);
    }
    expect(world.runs).toHaveLength(length + 2);
    expect(world.stock.state({ name: "feed" }).refused).toHaveLength(2);
    listFeed();
    await world.look();
    expect(await read()).toEqual(["feed 2", "stored observations 1"]);
  } finally {
    await repository.close();
    rmSync(folder, { recursive: true });
  }
});

test("a file is looked at every minute, and read when it has changed", async () => {
  everything();
  await world.look();
  writeFileSync(join(world.folder, "names"), namesFile(11));
  world.pass(59_000);
  await world.look();
  expect(world.runs).toHaveLength(1);
  world.pass(1_000);
  await world.look();
  expect(world.runs.slice(1)).toEqual([["as_names"]]);
});

test("what was fetched and not published is found again, whatever became of the process", async () => {
  everything();
  const sources = (await import("../../src/sources/index.ts")).readSources;
  const { sources: list } = await sources(join(world.folder, "sources.yaml"), { files: "later" });
  await world.stock.refresh(list, new AbortController().signal);
  expect(world.runs).toEqual([]);
  await world.restart();
  expect(await world.look()).toEqual([]);
  expect(world.runs).toEqual([["routes", "allocations", "vrps", "as_names"]]);
});

test("each source has its figures", async () => {
  everything();
  world.files.delete("/rib");
  await world.look();
  expect(await world.metric("netfacts_ingest_source_fetches_total")).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/source="rib".*outcome="failed".* 1$/),
      expect.stringMatching(/source="vrps".*outcome="fetched".* 1$/),
    ]),
  );
  expect(await world.metric("netfacts_ingest_source_fetched_bytes_total")).toContainEqual(
    expect.stringMatching(new RegExp(`source="vrps".* ${vrpFile().length}$`)),
  );
  expect(await world.metric("netfacts_ingest_source_success_timestamp_seconds")).toContainEqual(
    expect.stringMatching(new RegExp(`source="vrps".* ${world.now() / 1_000}$`)),
  );
});

test("a slow source keeps nobody waiting for long, is not asked twice, and makes a run of its own when it is here", async () => {
  everything();
  await world.look();
  world.waitFor(3_000);
  world.files.set("/rib", ribFile(21)).set("/vrps", vrpFile(9, "2025-11-21T09:50:12Z"));
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const good = world.serve;
  world.server.behave(async (request, socket) => {
    if (request.path === "/rib") await released;
    good(request, socket);
  });
  world.pass(8 * hour);
  expect((await world.look()).sort()).toEqual(["/rib", "/vrps"]);
  expect(world.runs.slice(1)).toEqual([["vrps"]]);
  world.pass(hour);
  expect(await world.look()).toEqual(["/vrps"]);
  release();
  await until(() => world.stock.state({ name: "rib" }).checkedAt === world.now(), { timeoutMs: 20_000 });
  expect(await world.look()).toEqual([]);
  expect(world.runs.slice(2)).toEqual([["routes", "vrps"]]);
});

test("a source at another location is a new one: it is due at once, and what failed at the old one is over", async () => {
  everything();
  world.files.delete("/vrps");
  await world.look();
  const list = (path: string) =>
    world.list(`
  - {name: vrps, section: vrps, format: rpki-client-json, location: "URL/${path}", allow_private: true}
  - {name: names, section: as_names, format: name-list, location: names}`);
  list("vrps");
  expect(await world.look()).toEqual([]);
  world.files.set("/moved", vrpFile());
  list("moved");
  expect(await world.look()).toEqual(["/moved"]);
  const location = `${world.server.url}/moved`;
  expect(world.stock.state({ name: "vrps", location })).toMatchObject({ failures: 0, error: null, location });
});

test("there are series of each listed source from its first look on, after a restart too, and none of one that was removed", async () => {
  everything();
  world.files.delete("/vrps");
  await world.look();
  const sources = (lines: string[]) => Object.fromEntries(lines.map((line) => [/source="(\w+)"/.exec(line)?.[1], line.split(" ").at(-1)]));
  const failures = "netfacts_ingest_source_failures_total";
  const inARow = "netfacts_ingest_source_failures_in_a_row";
  expect(sources(await world.metric(failures))).toEqual({ rib: "0", ripe: "0", vrps: "0", names: "0" });
  expect(sources(await world.metric(inARow))).toEqual({ rib: "0", ripe: "0", vrps: "1", names: "0" });
  await world.restart();
  await world.look();
  expect(sources(await world.metric(inARow))).toMatchObject({ vrps: "1" });
  world.list("  - {name: names, section: as_names, format: name-list, location: names}");
  await world.look();
  expect(sources(await world.metric(inARow))).toEqual({ names: "0" });
  expect(sources(await world.metric("netfacts_ingest_source_next_check_timestamp_seconds"))).toEqual({ names: expect.any(String) });
});
