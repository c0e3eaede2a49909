/**
 * Updates on a schedule: which files are asked for and when, which runs follow, and what is missing or damaged.
 *
 * @large It makes series of whole runs.
 */

import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { UpdateStock } from "../../src/schedule/update-stock.ts";
import { readSources, type SourceConfig } from "../../src/sources/index.ts";
import { ribFile } from "../support/made-files.ts";
import { madeUpdate } from "../support/made-updates.ts";
import { type Scheduled, scheduled } from "../support/scheduled.ts";

// The schedule's clock begins at 2026-11-21T12:00:00Z.
const noon = Date.parse("2026-11-21T12:00:00Z") / 1_000;
const minute = 60;
const peer = { address: "192.0.2.1", asn: 64500 };
const announce = (at: number, origin: number) => madeUpdate(peer, { at, announced: ["11.0.0.0/24"], path: `64500 ${origin}` });
/** `HHmm` of a step, and a file that announces something in it. */
const name = (at: number) => new Date(at * 1_000).toISOString().slice(11, 16).replace(":", "");
const step = (at: number) => announce(at + 30, 100 + ((at / minute) % 100));

let world: Scheduled;
beforeEach(async () => {
  world = await scheduled();
});
afterEach(() => world.remove());

const routes = "  - {name: rrc00, section: routes, format: mrt, location: 'URL/rib', allow_private: true, interval: 8h}";
const dated = (more = "") =>
  `${routes}\n  - {name: live, section: updates, format: mrt, location: 'URL/updates.{yyyyMMdd}.{HHmm}', every: 5m, allow_private: true, seconds_max: 60${more}}`;
const url = (at: number) => `/updates.20261121.${name(at)}`;

/** A table of so many minutes before noon. */
function publishTable(minutes: number): number {
  const at = noon - minutes * minute;
  world.files.set("/rib", ribFile(20, at));
  return at;
}

/** The server answers 404 for what it does not have. */
function missingIsAbsent(): void {
  world.server.behave((request, socket) => {
    if (world.files.has(request.path)) return world.serve(request, socket);
    return socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  });
}

const routesOf = async () => (await world.manifest())?.sections.routes;
const held = () => readdirSync(join(world.folder, "downloads", "live")).filter((entry) => entry.endsWith("Z"));

test("every step since the table is fetched once; a new one makes a run of the routes alone, and the newest is asked for again", async () => {
  missingIsAbsent();
  publishTable(17);
  for (const at of [noon - 20 * minute, noon - 15 * minute, noon - 10 * minute]) world.files.set(url(at), step(at));
  world.files.set("/names", "1\tONE\n");
  world.list(`${dated()}\n  - {name: names, section: as_names, format: name-list, location: 'URL/names', allow_private: true}`);
  const asked = await world.look();
  // The table is of 11:43, so the step of 11:40 has its first two minutes behind it.
  expect(asked.filter((path) => path.startsWith("/updates"))).toEqual(
    ["1140", "1145", "1150", "1155", "1200"].map((at) => `/updates.20261121.${at}`),
  );
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:50:30Z" });
  expect((await routesOf())?.updates_gaps).toBeUndefined();
  expect(world.runs).toEqual([["routes", "as_names"]]);

  world.pass(5 * 60_000);
  world.files.set(url(noon - 5 * minute), step(noon - 5 * minute));
  expect((await world.look()).filter((path) => path.startsWith("/updates"))).toEqual(
    ["1150", "1155", "1200", "1205"].map((at) => `/updates.20261121.${at}`),
  );
  expect(
    world.server.requests.filter(({ path, headers }) => path === url(noon - 10 * minute) && headers["if-none-match"] !== undefined),
  ).toHaveLength(1);
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:55:30Z" });
  expect(world.runs.slice(1)).toEqual([["routes"]]);

  // Nothing new, and a start: no run. The steps of the table before go when there is a newer one.
  world.pass(5 * 60_000);
  await world.look();
  await world.restart();
  await world.look();
  expect(world.runs).toHaveLength(2);
  expect(held()).toHaveLength(4);
  publishTable(4);
  world.pass(8 * 3_600_000);
  await world.look();
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:56:00Z" });
  world.pass(6 * 60_000);
  await world.look();
  expect(held()).toEqual(["20261121T115500Z"]);
});

test("steps that do not divide a day begin anew at midnight", async () => {
  missingIsAbsent();
  publishTable(16 * 60);
  const hours = (behind: number) => noon - behind * 60 * minute;
  const path = (at: number) => `/updates.${new Date(at * 1_000).toISOString().slice(0, 10).replaceAll("-", "")}.${name(at)}`;
  for (const behind of [16, 7, 2]) world.files.set(path(hours(behind)), announce(hours(behind) + 30, 100 + behind));
  world.list(dated(", required: false").replace("every: 5m", "every: 5h"));
  const asked = await world.look();
  expect(asked.filter((each) => each.startsWith("/updates"))).toEqual(
    ["20261120.2000", "20261121.0000", "20261121.0500", "20261121.1000"].map((at) => `/updates.${at}`),
  );
  expect(await routesOf()).toMatchObject({
    as_of: "2026-11-21T10:00:30Z",
    updates_gaps: [{ from: "2026-11-21T00:00:00Z", to: "2026-11-21T05:00:00Z" }],
  });
});

test("a step that could not be fetched leaves nothing once a newer table is there", async () => {
  world.server.behave((request, socket) => {
    if (world.files.has(request.path)) return world.serve(request, socket);
    return socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  });
  publishTable(17);
  world.list(dated(", required: false"));
  await world.look();
  expect(held()).toEqual(["20261121T114000Z"]);
  publishTable(4);
  world.pass(9 * 3_600_000);
  await world.look();
  expect(held()).toEqual(["20261121T115500Z"]);
});

test("a step that its publisher does not have is a gap when a later one is there, and is not asked for again", async () => {
  missingIsAbsent();
  publishTable(30);
  for (const minutes of [30, 25, 5]) world.files.set(url(noon - minutes * minute), step(noon - minutes * minute));
  world.list(dated(", required: false"));
  await world.look();
  const gap = { collector: "rrc00", from: "2026-11-21T11:40:00Z", to: "2026-11-21T11:55:00Z" };
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:55:30Z", updates_gaps: [gap] });
  world.files.set(url(noon), step(noon));
  world.pass(5 * 60_000);
  expect((await world.look()).filter((path) => path.startsWith("/updates"))).toEqual(
    ["1155", "1200", "1205"].map((at) => `/updates.20261121.${at}`),
  );
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T12:00:30Z", updates_gaps: [gap] });
});

test("a publisher that is far behind is asked for twelve steps at a time, and the table is there without them", async () => {
  missingIsAbsent();
  publishTable(180);
  world.list(dated(", required: false"));
  expect((await world.look()).filter((path) => path.startsWith("/updates"))).toHaveLength(12);
  expect(world.stock.state({ name: "live" }).error).toMatch(/updates\.20261121\.0900: not found, nor are the 11 after it$/);
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T09:00:00Z" });
  world.pass(5 * 60_000);
  expect((await world.look()).filter((path) => path.startsWith("/updates"))[0]).toBe("/updates.20261121.1000");
});

test("a publisher that stood still for more than an hour is asked once more for what it did not have when it goes on", async () => {
  missingIsAbsent();
  publishTable(180);
  world.list(dated(", required: false"));
  const asked: string[][] = [];
  const look = async () => {
    asked.push((await world.look()).filter((path) => path.startsWith("/updates")).map((path) => path.slice(-4)));
    world.pass(5 * 60_000);
  };
  await look();
  await look();
  // The steps of 09:05 and of 10:05 on have come late.
  for (const minutes of [175, 115, 110]) world.files.set(url(noon - minutes * minute), step(noon - minutes * minute));
  for (let late = 105; late >= 0; late -= 5) world.files.set(url(noon - late * minute), step(noon - late * minute));
  await look();
  expect(asked[2]?.slice(0, 4)).toEqual(["1100", "0900", "0905", "0910"]);
  expect(held()[0]).toBe("20261121T090500Z");
  expect(held()).toHaveLength(25);
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T12:00:30Z" });
  await look();
  expect(asked[3]).toEqual(["1200", "1205", "1210", "1215"]);
});

test.each([
  ["20 minutes", 20],
  ["two hours and a half", 150],
])("steps that a clock took for absent while it was six hours ahead for %s are fetched when it is right", async (_time, realMinutes) => {
  missingIsAbsent();
  publishTable(20);
  const publishUntil = (time: number) => {
    for (let at = noon - 20 * minute; at <= time; at += 5 * minute) world.files.set(url(at), step(at));
  };
  publishUntil(noon - 10 * minute);
  world.list(dated(", required: false"));
  await world.look();
  world.pass(6 * 3_600_000);
  for (let past = 0; past < realMinutes; past += 5) {
    await world.look();
    world.pass(5 * 60_000);
  }
  world.pass(-6 * 3_600_000);
  publishUntil(noon + (realMinutes - 10) * minute);
  await world.look();
  expect(await routesOf()).toMatchObject({
    as_of: new Date((noon + (realMinutes - 10) * minute + 30) * 1_000).toISOString().replace(".000", ""),
  });
  expect((await routesOf())?.updates_gaps).toBeUndefined();
});

test("a table that is too old is told, and no step is asked for", async () => {
  missingIsAbsent();
  publishTable(60 * 24 * 4);
  world.list(dated(", required: false"));
  expect((await world.look()).filter((path) => path.startsWith("/updates"))).toEqual([]);
  expect(world.stock.state({ name: "live" }).error).toMatch(/is of 2026-11-17T12:00:00Z, more than 1000 files ago/);
});

test("a server that fails in the middle costs nothing that is here; steps behind what is not known wait", async () => {
  publishTable(20);
  for (const minutes of [20, 15, 10]) world.files.set(url(noon - minutes * minute), step(noon - minutes * minute));
  missingIsAbsent();
  const second = url(noon - 15 * minute);
  world.server.behave((request, socket) => {
    if (request.path === second) return socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    return world.serve(request, socket);
  });
  world.list(dated(", required: false"));
  await world.look();
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:40:30Z" });
  missingIsAbsent();
  world.pass(5 * 60_000);
  await world.look();
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:50:30Z" });
  expect((await routesOf())?.updates_gaps).toBeUndefined();
  // What somebody has deleted is fetched again; until then what is behind it does not count.
  rmSync(join(world.folder, "downloads", "live", "20261121T114500Z"), { recursive: true });
  await world.look();
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:40:30Z" });
  world.pass(5 * 60_000);
  await world.look();
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:50:30Z" });
});

test("a damaged step is left out with what is behind it, makes no second run, and is told also by runs of something else", async () => {
  missingIsAbsent();
  publishTable(20);
  for (const minutes of [20, 15, 10]) world.files.set(url(noon - minutes * minute), step(noon - minutes * minute));
  world.files.set(url(noon - 15 * minute), step(noon - 15 * minute).subarray(0, -2));
  world.list(dated(", required: false"));
  await world.look();
  const gap = { collector: "rrc00", from: "2026-11-21T11:40:30Z", to: null };
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:40:30Z", updates_gaps: [gap] });
  expect(world.stock.state({ name: "live" }).refused[0]?.error).toContain("the input ends");
  for (const minutes of [5, 0]) {
    world.files.set(url(noon - minutes * minute), step(noon - minutes * minute));
    world.pass(5 * 60_000);
    await world.look();
  }
  expect(world.runs).toHaveLength(1);
  // Another table that lies before the damage too: it is not forgotten.
  world.files.set("/rib", ribFile(21, noon - 19 * minute));
  world.pass(8 * 3_600_000);
  await world.look();
  expect(world.runs).toHaveLength(2);
  expect(await routesOf()).toMatchObject({ counts: { ipv4: 21 }, updates_gaps: [{ ...gap, from: "2026-11-21T11:41:00Z" }] });
});

test("updates of a folder: a new file makes a run at the next look, without being due; a required one that is damaged keeps the routes as they are", async () => {
  publishTable(20);
  const folder = join(world.folder, "updates");
  mkdirSync(folder);
  world.list(`${routes}\n  - {name: live, section: updates, format: mrt, location: updates}`);
  await world.look();
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:40:00Z" });
  writeFileSync(join(folder, ".new"), step(noon - 20 * minute));
  await world.look();
  expect(world.runs).toHaveLength(1);
  renameSync(join(folder, ".new"), join(folder, "1140"));
  await world.look();
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:40:30Z" });
  writeFileSync(join(folder, "1145"), "no MRT at all, not in the least");
  await world.look();
  await world.look();
  expect(world.runs).toHaveLength(3);
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:40:30Z" });
  expect(world.log.filter(({ message }) => message.startsWith("sections are kept"))).toMatchObject([
    { fields: { waiting: { routes: "live" } } },
  ]);
  writeFileSync(join(folder, "1145"), step(noon - 15 * minute));
  await world.look();
  expect(await routesOf()).toMatchObject({ as_of: "2026-11-21T11:45:30Z" });
  rmSync(folder, { recursive: true });
  await world.look();
  expect(world.runs).toHaveLength(4);
});

test("what is known of files that went is forgotten: a publisher has a new one every few minutes, for years", async () => {
  publishTable(20);
  const folder = join(world.folder, "updates");
  mkdirSync(folder);
  writeFileSync(join(folder, "1140"), step(noon - 20 * minute));
  writeFileSync(join(folder, "1145"), step(noon - 15 * minute));
  writeFileSync(join(world.folder, "table"), ribFile(20, noon - 20 * minute));
  world.list(`${routes}\n  - {name: live, section: updates, format: mrt, location: updates}`);
  const live = (await readSources(join(world.folder, "sources.yaml"))).sources.find(({ name }) => name === "live") as SourceConfig;
  const stock = new UpdateStock(join(world.folder, "downloads"));
  const ready = () => stock.ready(live, join(world.folder, "table"), null);
  const known = () => ["1140", "1145"].map((file) => stock.digestOf(join(folder, file)) !== null);
  await ready();
  expect(known()).toEqual([true, true]);
  rmSync(join(folder, "1140"));
  await ready();
  expect(known()).toEqual([false, true]);
});
