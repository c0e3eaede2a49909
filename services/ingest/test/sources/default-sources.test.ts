/** The list of public places that comes with ingest: free of faults and complete. Nothing of it is ever fetched here. */

import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { locationsAt, readSources } from "../../src/sources/index.ts";

const file = join(import.meta.dirname, "../../sources.default.yaml");

test("has no fault, and takes everything over https from global names", async () => {
  const { sources, sampleData } = await readSources(file);
  expect(sampleData).toBe(false);
  for (const { name, fetch } of sources) {
    expect({ name, url: fetch?.url }).toEqual({ name, url: expect.stringMatching(/^https:\/\/[a-z0-9.-]+\.(net|org|com)\//) });
    expect(fetch).toMatchObject({ allowPrivate: false, allowDowngrade: false });
  }
});

test("names both archives of routes, the five registries with their digests, VRPs, names, profiles and network types", async () => {
  const { sources } = await readSources(file);
  const of = (section: string) => sources.filter((source) => source.section === section);
  expect(of("routes").map(({ fetch }) => new URL(fetch?.url.replaceAll(/[{}]/g, "") ?? "").host)).toEqual([
    "data.ris.ripe.net",
    "archive.routeviews.org",
  ]);
  expect(
    of("allocations")
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["afrinic", "apnic", "arin", "lacnic", "ripencc"]);
  for (const { fetch } of of("allocations")) expect(fetch?.md5).toBe("if-present");
  expect(of("vrps").length + of("as_names").length + of("profiles").length).toBe(4);
  expect(of("network_types").map(({ rangeType }) => [rangeType?.type, rangeType?.provider])).toEqual([
    ["hosting", "Amazon AWS"],
    ["hosting", "Google Cloud"],
    ["hosting", "Oracle Cloud"],
    ["tor_exit", null],
  ]);
});

test("nobody is asked more often than hourly, and one that is away does not keep back the others of its section", async () => {
  const { sources } = await readSources(file);
  expect(Math.min(...sources.map(({ intervalSeconds }) => intervalSeconds))).toBeGreaterThanOrEqual(3_600);
  for (const section of new Set(sources.map((source) => source.section)))
    expect(sources.filter((source) => source.section === section && source.required).length).toBeLessThanOrEqual(1);
});

test("RouteViews' tables are found by their dates", async () => {
  const { sources } = await readSources(file);
  const fetch = sources.find(({ name }) => name === "route-views2")?.fetch;
  expect(locationsAt(fetch?.url ?? "", fetch?.everySeconds ?? 0, Date.parse("2026-11-21T09:59:00Z"))[0]).toBe(
    "https://archive.routeviews.org/bgpdata/2026.11/RIBS/rib.20261121.0800.bz2",
  );
});
