/** What an operator took back, and the schedule: it is held back until its source has a newer version. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Manifest } from "@netfacts/snapshot";
import { delegatedFile, namesFile, ribFile, vrpFile } from "../support/made-files.ts";
import { listEverything, type Scheduled, scheduled } from "../support/scheduled.ts";

let world: Scheduled;
beforeEach(async () => {
  world = await scheduled();
});
afterEach(() => world.remove());

const minute = 60_000;
const hour = 60 * minute;
const everything = () => listEverything(world);

test("after a rollback a section stays as it is until its sources are newer, whatever else is published", async () => {
  everything();
  await world.look();
  const first = await world.manifest();
  world.files.set("/rib", ribFile(21)).set("/vrps", vrpFile(11, "2025-11-21T09:50:12Z"));
  world.pass(8 * hour);
  await world.look();
  const second = await world.manifest();
  expect(second?.sections.routes?.counts.ipv4).toBe(21);
  await world.rollBack(first);
  await world.look();
  await world.restart();
  await world.look();
  expect(world.runs).toHaveLength(2);
  expect(await world.manifest()).toEqual(first);
  const told = world.log.filter(({ message }) => message.startsWith("a section stays rolled back"));
  // Once by each process.
  expect(told.map(({ level, fields }) => [level, fields.section])).toEqual([
    ["warn", "routes"],
    ["warn", "vrps"],
    ["warn", "routes"],
    ["warn", "vrps"],
  ]);
  world.files.set("/vrps", vrpFile(12, "2025-11-21T10:50:12Z"));
  world.pass(hour);
  await world.look();
  expect(world.runs.slice(2)).toEqual([["vrps"]]);
  const third = await world.manifest();
  expect([third?.sections.routes?.object, third?.sections.vrps?.counts.vrps]).toEqual([first?.sections.routes?.object, 12]);
  await world.look();
  expect(world.runs).toHaveLength(3);
  world.files.set("/rib", ribFile(22));
  world.pass(8 * hour);
  await world.look();
  expect((await world.manifest())?.sections.routes?.counts.ipv4).toBe(22);
});

test("what was taken back is not published again because of another source of its section", async () => {
  const name = (source: string, text: string) => writeFileSync(join(world.folder, source), `${namesFile()}4242\t${text}\n`);
  const sources = ["bad", "own"].map((source) => `  - {name: ${source}, section: as_names, format: name-list, location: ${source}}`);
  world.list(sources.join("\n"));
  name("bad", "right");
  name("own", "first");
  await world.look();
  const first = await world.manifest();
  const change = async (source: string, text: string) => {
    name(source, text);
    world.pass(minute);
    await world.look();
    return world.runs.length;
  };
  expect(await change("bad", "wrong")).toBe(2);
  await world.rollBack(first);
  expect(await change("own", "second")).toBe(2);
  expect(await change("own", "third")).toBe(2);
  expect((await world.manifest())?.id).toBe(first?.id);
  expect(await change("bad", "right again")).toBe(3);
  // Also where both were taken back.
  const second = await world.manifest();
  expect(await change("own", "more")).toBe(4);
  expect(await change("bad", "wrong again")).toBe(5);
  await world.rollBack(second);
  expect(await change("none", "")).toBe(5);
  expect(await change("bad", "right at last")).toBe(6);
  // What is taken back itself is free as soon as it is another.
  const third = await world.manifest();
  expect(await change("own", "fourth")).toBe(7);
  await world.rollBack(third);
  expect(await change("own", "fifth")).toBe(8);
});

test("what was taken back is not published again because the version after it is no good", async () => {
  listEverything(world, ", required: false");
  await world.look();
  const first = await world.manifest();
  world.files.set("/ripe", delegatedFile("ripencc", 11, "20251122"));
  world.pass(25 * hour);
  await world.look();
  expect((await world.manifest())?.sections.allocations?.counts.ipv4).not.toBe(first?.sections.allocations?.counts.ipv4);
  await world.rollBack(first);
  world.files.set("/ripe", "<html>maintenance</html>");
  world.pass(25 * hour);
  for (const _ of [1, 2]) await world.look();
  await world.restart();
  await world.look();
  expect((await world.manifest())?.sections.allocations).toEqual(first?.sections.allocations);
  expect(world.stock.state({ name: "ripe" }).refused[0]?.error).toContain("downloads/ripe/");
  world.files.set("/ripe", delegatedFile("ripencc", 12, "20251123"));
  world.pass(25 * hour);
  await world.look();
  expect((await world.manifest())?.sections.allocations?.sources[0]).toMatchObject({ accepted: 12, error: null });
});

test("what was taken back does not return beside a newer version of another source, when the version after it is no good", async () => {
  const line = (name: string) =>
    `  - {name: ${name}, section: allocations, format: delegated, location: "URL/${name}", allow_private: true, required: false}`;
  world.list(`${line("ripe")}\n${line("arin")}`);
  const look = async (ripe: string, arin: string) => {
    world.files.set("/ripe", ripe).set("/arin", arin);
    world.pass(25 * hour);
    for (const _ of [1, 2]) await world.look();
    return (await world.manifest())?.sections.allocations?.sources.map(({ accepted }) => accepted);
  };
  expect(await look(delegatedFile(), delegatedFile("arin", 20))).toEqual([10, 20]);
  const first = await world.manifest();
  expect(await look(delegatedFile("ripencc", 11, "20251122"), delegatedFile("arin", 21, "20251122"))).toEqual([11, 21]);
  await world.rollBack(first);
  expect(await look("<html>maintenance</html>", delegatedFile("arin", 22, "20251123"))).toEqual([10, 20]);
  expect(await look(delegatedFile("ripencc", 12, "20251124"), delegatedFile("arin", 22, "20251123"))).toEqual([12, 22]);
});

test("what was taken back is not published again after any number of runs, nor because of a second rollback", async () => {
  everything();
  await world.look();
  const first = await world.manifest();
  const change = async (path: string, file: Buffer | string) => {
    world.files.set(path, file);
    world.pass(8 * hour);
    await world.look();
    return world.manifest();
  };
  const second = await change("/rib", ribFile(21));
  await change("/rib", ribFile(22));
  await world.rollBack(second);
  await world.rollBack(first);
  // More than the store keeps snapshots.
  for (const count of [11, 12, 13, 14, 15]) await change("/vrps", vrpFile(count, `2025-11-21T1${count - 10}:50:12Z`));
  expect((await world.manifest())?.sections.routes).toEqual(first?.sections.routes);
  // Nor is what was taken back with the first of them.
  expect((await change("/rib", ribFile(21)))?.sections.routes).toEqual(first?.sections.routes);
  expect((await change("/rib", ribFile(23)))?.sections.routes?.counts.ipv4).toBe(23);
  // A newer version has settled it.
  expect((await change("/rib", ribFile(22)))?.sections.routes?.counts.ipv4).toBe(22);
});

test("a store that went back by itself is brought up to date: nobody rolled it back", async () => {
  everything();
  await world.look();
  const first = await world.manifest();
  world.files.set("/rib", ribFile(21));
  world.pass(8 * hour);
  await world.look();
  const second = await world.manifest();
  await world.store.publish(first as Manifest);
  await world.restart();
  await world.look();
  expect((await world.manifest())?.id).toBe(second?.id);
});
