/** `netfacts lookup --as-of` and `netfacts changes`: the past out of a data folder. */

import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openDataFolder, snapshotsFolder } from "@netfacts/snapshot";
import { madeLocations, madeNames, madeRoutes, route } from "../../../libs/snapshot/test/support/made-sections.ts";
import { publishMade } from "../../../libs/snapshot/test/support/made-snapshot.ts";
import { exitCodes } from "../src/exit-codes.ts";
import { run, temporaryFolder } from "./support/run.ts";

const firstDay = Date.UTC(2026, 0, 1, 12);
let dataDir = "";
const ids: string[] = [];

beforeAll(async () => {
  dataDir = temporaryFolder();
  let nowMs = 0;
  const store = openDataFolder(dataDir, { retention: { last: 1 }, clock: { now: () => nowMs } });
  for (const day of [0, 1, 2]) {
    nowMs = firstDay + day * 86_400_000;
    const made = { routes: madeRoutes([route("192.0.2.0/24", [day === 2 ? 64501 : 64500, 3])]), names: madeNames({ 64500: `DAY-${day}` }) };
    ids.push((await publishMade(store, { ...made, locations: madeLocations({ "192.0.2.0/24": "NL" }) })).id);
  }
});
afterAll(() => rmSync(dataDir, { recursive: true }));

const lookup = (...words: string[]) => run(dataDir, "lookup", ...words, "--json");

test("answers from the snapshot of that time, and names it", async () => {
  const { code, out } = await lookup("asn", "64500", "--as-of", "2026-01-02");
  expect(code).toBe(exitCodes.ok);
  expect(JSON.parse(out)).toMatchObject({
    name: "DAY-1",
    meta: { history: { as_of: "2026-01-02T23:59:59Z", snapshot: ids[1], published_at: "2026-01-02T12:00:00Z" } },
  });
  expect(JSON.parse((await lookup("asn", "64500")).out)).toMatchObject({ name: "DAY-2" });
});

test("has no locations of the past", async () => {
  for (const [asOf, location] of [
    [[], { country: "NL" }],
    [["--as-of", "2026-01-04"], null],
  ] as const) {
    const record = JSON.parse((await lookup("ip", "192.0.2.1", ...asOf)).out);
    if (location === null) expect(record.location).toBeNull();
    else expect(record.location).toMatchObject(location);
  }
});

test("of a time that is not kept, or that is none, says what is", async () => {
  const early = await lookup("asn", "64500", "--as-of", "2026-01-01T11:59:59Z");
  expect([early.code, early.err]).toEqual([
    exitCodes.notFound,
    expect.stringContaining("the earliest was published at 2026-01-01T12:00:00Z"),
  ]);
  for (const text of ["2999-01-01", "yesterday"]) expect((await lookup("asn", "64500", "--as-of", text)).code).toBe(exitCodes.usage);
});

test("changes come newest first, with the publications between which they happened", async () => {
  const changesOf = async (...words: string[]) => JSON.parse((await run(dataDir, "changes", ...words, "--json")).out);
  const published = (day: number) => ({ snapshot: ids[day], published_at: `2026-01-0${day + 1}T12:00:00Z` });
  const none = { as_set: null, from: null, to: null, registration_from: null, registration_to: null };
  const last = { ...none, prefix: "192.0.2.0/24", before: published(1), after: published(2) };
  expect(await changesOf("192.0.2.0/24")).toEqual({
    subject: { prefix: "192.0.2.0/24" },
    earliest: "2026-01-01T12:00:00Z",
    latest: "2026-01-03T12:00:00Z",
    changes: {
      items: [
        { ...last, change: "origin_vanished", origin: 64500 },
        { ...last, change: "origin_appeared", origin: 64501 },
      ],
      skipped: [],
      truncated: false,
    },
  });
  const ofAs = await changesOf("AS64500");
  expect(ofAs.subject).toEqual({ asn: 64500 });
  expect(ofAs.changes.items.map(({ change, from, to }: Record<string, unknown>) => [change, from, to])).toEqual([
    ["name_changed", "DAY-1", "DAY-2"],
    ["origin_vanished", null, null],
    ["name_changed", "DAY-0", "DAY-1"],
  ]);
  expect(await changesOf("AS64500", "--limit", "2")).toMatchObject({ changes: { items: { length: 2 }, truncated: true } });
  expect(await changesOf("198.51.100.0/24")).toMatchObject({ changes: { items: [] }, earliest: "2026-01-01T12:00:00Z" });
  expect((await run(dataDir, "changes", "AS64500")).out).toMatch(/^AFTER .*\n.*name_changed +– +– +DAY-1 +DAY-2\n/);
  expect((await run(dataDir, "changes", "192.0.2.1/24")).code).toBe(exitCodes.usage);
});

describe("damaged snapshots", () => {
  const copies: string[] = [];
  afterAll(() => {
    for (const copy of copies) rmSync(copy, { recursive: true });
  });

  /** A copy of the folder in which these manifests are damaged. */
  function damaged(...days: number[]): string {
    const copy = temporaryFolder();
    copies.push(copy);
    cpSync(dataDir, copy, { recursive: true });
    for (const day of days) writeFileSync(join(copy, snapshotsFolder, "manifests", `${ids[day]}.json`), "{}");
    return copy;
  }
  const changesIn = (folder: string, ...words: string[]) => run(folder, "changes", "AS64500", ...words);

  test.each([
    ["between others", 1, ["DAY-0 DAY-2"]],
    ["the latest", 2, ["DAY-0 DAY-1"]],
    ["the earliest", 0, ["DAY-1 DAY-2"]],
  ])("%s: it is passed and told, and its neighbours are compared", async (_which, day, names) => {
    const folder = damaged(day);
    const { items, skipped } = JSON.parse((await changesIn(folder, "--json")).out).changes;
    const named = items.filter(({ change }: { change: string }) => change === "name_changed");
    expect(named.map(({ from, to }: { from: string; to: string }) => `${from} ${to}`)).toEqual(names);
    expect(skipped).toEqual([{ snapshot: ids[day], published_at: `2026-01-0${day + 1}T12:00:00Z` }]);
    const { code, out } = await changesIn(folder);
    expect([code, out]).toEqual([exitCodes.ok, expect.stringContaining(`skipped, because it is damaged: ${ids[day]}, published at`)]);
  });

  test("the latest does not keep an earlier one from answering", async () => {
    const { code, out } = await run(damaged(2), "lookup", "asn", "64500", "--as-of", "2026-01-02", "--json");
    expect([code, JSON.parse(out).name]).toEqual([exitCodes.ok, "DAY-1"]);
  });

  test("all of them: says what is wrong", async () => {
    const { code, err } = await changesIn(damaged(0, 1, 2));
    expect([code, err]).toEqual([exitCodes.untrusted, expect.stringContaining(`${ids[0]}.json: the manifest is invalid`)]);
  });
});
