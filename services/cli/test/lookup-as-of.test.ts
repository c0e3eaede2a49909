/** `netfacts lookup --as-of`: records of the past out of a data folder, as the API returns them. */

import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDataFolder } from "@netfacts/snapshot";
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
    const made = { routes: madeRoutes([route("192.0.2.0/24", [64500, 3])]), names: madeNames({ 64500: `DAY-${day}` }) };
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
