/** Lists of an operator that do not go together with other sources, and what the schedule does when one of these is corrected. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { SourceConfig } from "../../src/sources/index.ts";
import { vrpFile } from "../support/made-files.ts";
import { type Scheduled, scheduled } from "../support/scheduled.ts";

let world: Scheduled;
beforeEach(async () => {
  world = await scheduled();
  world.files.set("/vrps", vrpFile());
});
afterEach(() => world.remove());

const minute = 60_000;
const day = 24 * 60 * minute;

function asserting(...prefixes: string[]): string {
  return JSON.stringify({
    slurmVersion: 1,
    validationOutputFilters: { prefixFilters: [], bgpsecFilters: [] },
    locallyAddedAssertions: { prefixAssertions: prefixes.map((prefix) => ({ asn: 64_500, prefix })), bgpsecAssertions: [] },
  });
}

const write = (name: string, ...prefixes: string[]) => writeFileSync(join(world.folder, name), asserting(...prefixes));

/** Two files of a folder. */
const listFiles = (also: string) =>
  world.list(`
  - {name: vrps, section: vrps, format: rpki-client-json, location: "URL/vrps", allow_private: true}
  - {name: a, section: vrps, format: slurm, location: a${also}}
  - {name: b, section: vrps, format: slurm, location: b${also}}`);

/** By source, why the snapshot does not have it; null: it does. */
const errors = async () =>
  Object.fromEntries((await world.manifest())?.sections.vrps?.sources.map(({ name, error }) => [name, error]) ?? []);

const asserted = async () => (await world.manifest())?.sections.vrps?.counts.slurm_asserted;

const used = { vrps: null, a: null, b: null };

test.each([", required: true", ", required: false"])(
  "a file that overlapped another is used as soon as the other one makes room%s",
  async (also) => {
    write("a", "10.0.0.0/8", "10.1.0.0/16");
    write("b", "172.16.0.0/12");
    listFiles(also);
    await world.look();
    expect(await errors()).toEqual(used);
    // An exception moves from one file to the other, and the schedule looks in between.
    write("b", "172.16.0.0/12", "10.1.0.0/16");
    world.pass(60 * minute);
    await world.look();
    expect(world.stock.state({ name: "b" }).refused[0]?.error).toContain("overlaps 10.");
    write("a", "10.0.0.0/16");
    world.pass(60 * minute);
    await world.look();
    expect([await errors(), await asserted()]).toEqual([used, 3]);
    expect(world.stock.state({ name: "b" }).refused).toEqual([]);
    const runs = world.runs.length;
    for (let looks = 0; looks < 3; looks++) {
      world.pass(minute);
      await world.look();
    }
    expect(world.runs).toHaveLength(runs);
  },
);

test("a file that overlaps another is used when the other one leaves the list", async () => {
  write("a", "10.0.0.0/8");
  write("b", "10.1.0.0/16");
  listFiles(", required: false");
  await world.look();
  expect(await errors()).toEqual({ ...used, b: "could not be read in the last run" });
  world.list(`
  - {name: vrps, section: vrps, format: rpki-client-json, location: "URL/vrps", allow_private: true}
  - {name: b, section: vrps, format: slurm, location: b, required: false}`);
  world.pass(minute);
  await world.look();
  expect(await errors()).toEqual({ vrps: null, b: null });
});

test("two files that overlap a third one are tried once", async () => {
  write("a", "10.0.0.0/8");
  write("b", "10.1.0.0/16");
  write("c", "10.2.0.0/16");
  world.list(`
  - {name: vrps, section: vrps, format: rpki-client-json, location: "URL/vrps", allow_private: true}
  - {name: a, section: vrps, format: slurm, location: a, required: false}
  - {name: b, section: vrps, format: slurm, location: b, required: false}
  - {name: c, section: vrps, format: slurm, location: c, required: false}`);
  for (let looks = 0; looks < 4; looks++) {
    await world.look();
    world.pass(minute);
  }
  expect([world.runs.length, Object.values(await errors()).filter((error) => error !== null).length]).toEqual([1, 2]);
});

test("a fetched file that was in use and is overlapped now makes no run after the other", async () => {
  world.files.set("/a", asserting("10.0.0.0/8")).set("/b", asserting("172.16.0.0/12"));
  world.list(`
  - {name: vrps, section: vrps, format: rpki-client-json, location: "URL/vrps", allow_private: true}
  - {name: a, section: vrps, format: slurm, location: "URL/a", allow_private: true, required: false}
  - {name: b, section: vrps, format: slurm, location: "URL/b", allow_private: true, required: false}`);
  await world.look();
  world.files.set("/a", asserting("172.16.1.0/24"));
  world.pass(day);
  await world.look();
  expect(await errors()).toEqual({ ...used, b: "could not be read in the last run" });
  const runs = world.runs.length;
  for (let looks = 0; looks < 3; looks++) {
    world.pass(minute);
    await world.look();
  }
  expect(world.runs).toHaveLength(runs);
  world.files.set("/a", asserting("10.0.0.0/8"));
  world.pass(day - 30 * minute);
  await world.look();
  expect(await errors()).toEqual(used);
});

test.each([
  ["is malformed", "{", "JSON"],
  ["overlaps", asserting("10.1.0.0/16"), "overlaps 10."],
])("a fetched file whose newest version %s and whose last good one overlaps now is tried once each", async (_, newest, why) => {
  write("a", "10.0.0.0/8");
  world.files.set("/b", asserting("172.16.0.0/12"));
  world.list(`
  - {name: vrps, section: vrps, format: rpki-client-json, location: "URL/vrps", allow_private: true}
  - {name: a, section: vrps, format: slurm, location: a, required: false}
  - {name: b, section: vrps, format: slurm, location: "URL/b", allow_private: true, required: false}`);
  await world.look();
  world.files.set("/b", newest);
  world.pass(day);
  await world.look();
  const [earlier, none] = [
    "the newest version of this source could not be used in the last run; the previous version is in use",
    "could not be read in the last run",
  ];
  expect(await errors()).toEqual({ ...used, b: earlier });
  write("a", "10.0.0.0/8", "172.16.0.0/16");
  world.pass(60 * minute);
  await world.look();
  await world.look();
  expect(await errors()).toEqual({ ...used, b: none });
  const runs = world.runs.length;
  await world.restart();
  for (let looks = 0; looks < 4; looks++) {
    world.pass(minute / 2);
    await world.look();
  }
  expect(world.runs).toHaveLength(runs);
  // The newest version is told, not the one before it.
  const b = { name: "b", section: "vrps", location: `${world.server.url}/b`, format: "slurm", fetch: {} } as SourceConfig;
  expect(await world.stock.refusal(b)).toContain(why);
  write("a", "10.0.0.0/8");
  world.pass(60 * minute);
  await world.look();
  expect(await errors()).toEqual({ ...used, b: earlier });
});

test("a file that an earlier version of this program refused is tried again once, and as soon as another one makes room", async () => {
  write("a", "10.0.0.0/8");
  write("b", "10.1.0.0/16");
  listFiles(", required: true");
  await world.look();
  const path = join(world.folder, "schedule.json");
  const states = JSON.parse(readFileSync(path, "utf8"));
  const { beside, ...refused } = states.b.refused[0];
  expect(beside).toContain('"a"');
  writeFileSync(path, JSON.stringify({ ...states, b: { ...states.b, refused }, a: { ...states.a, refused: null } }));
  await world.restart();
  expect(world.stock.state({ name: "b" }).refused[0]?.error).toContain("overlaps 10.");
  const runs = world.runs.length;
  for (let looks = 0; looks < 3; looks++) {
    world.pass(minute);
    await world.look();
  }
  expect(world.runs).toHaveLength(runs + 1);
  writeFileSync(path, JSON.stringify({ ...states, b: { ...states.b, refused }, a: { ...states.a, refused: null } }));
  await world.restart();
  write("a", "172.16.0.0/12");
  world.pass(60 * minute);
  await world.look();
  expect(await errors()).toEqual(used);
});

test("a list that met the limit of names because of a publisher's file is tried again when that is corrected", async () => {
  const netOf = (typeOf: (at: number) => string) =>
    JSON.stringify({
      data: Array.from({ length: 250 }, (_, at) => ({ id: at, asn: at + 1, name: "", status: "ok", info_type: typeOf(at) })),
    });
  world.files.set(
    "/net",
    netOf((at) => `street ${at}`),
  );
  const lines = Array.from({ length: 10 }, (_, at) => `${at + 1},type_${at}`);
  writeFileSync(join(world.folder, "own"), ["asn,network_type", ...lines, ""].join("\n"));
  world.list(`
  - {name: net, section: profiles, format: peeringdb-net, location: "URL/net", allow_private: true, interval: 1h, required: false}
  - {name: own, section: profiles, format: overrides-csv, location: own}`);
  for (let looks = 0; looks < 3; looks++) {
    await world.look();
    world.pass(minute);
  }
  expect(world.stock.state({ name: "own" }).refused[0]?.error).toContain("there are 260 with those of the sources before it");
  expect(world.runs).toHaveLength(1);
  world.files.set(
    "/net",
    netOf(() => "NSP"),
  );
  world.pass(2 * 60 * minute);
  await world.look();
  expect((await world.manifest())?.sections.profiles?.sources.map(({ name, error }) => [name, error])).toEqual([
    ["net", null],
    ["own", null],
  ]);
});
