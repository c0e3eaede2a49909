/** Geofeeds (RFC 8805): every rule once. */

import { describe, expect, test } from "@jest/globals";
import { formatPrefix } from "@netfacts/address";
import { readGeofeed } from "../../src/readers/geofeed.ts";
import { SourceError } from "../../src/readers/reader-report.ts";
import { contentOf, failureOf } from "./content.ts";

const read = (...lines: string[]) => readGeofeed(contentOf(`${lines.join("\n")}\n`, 7, { badRecordsMax: 0.6 }));

async function toldBy(...lines: string[]): Promise<unknown[]> {
  const { records } = await read(...lines);
  return records.map(({ prefix, place }) => [formatPrefix(prefix), place && [place.country, place.region, place.city]]);
}

test("prefixes and addresses with country, region and city, where they are given", async () => {
  expect(
    await toldBy(
      "\ufeff# a feed",
      "192.0.2.0/24,NL,NL-NH,Amsterdam,",
      '198.51.100.7,us,us-al,"Alabaster, or so",35007',
      "",
      "2001:DB8:0:0::/32 , MX , MX-QUE , Querétaro ,",
      "2001:db8::1,HK,,Hong Kong,",
      "203.0.113.0/24,DE",
    ),
  ).toEqual([
    ["192.0.2.0/24", ["NL", "NL-NH", "Amsterdam"]],
    ["198.51.100.7/32", ["US", "US-AL", "Alabaster, or so"]],
    ["2001:db8::/32", ["MX", "MX-QUE", "Querétaro"]],
    ["2001:db8::1/128", ["HK", null, "Hong Kong"]],
    ["203.0.113.0/24", ["DE", null, null]],
  ]);
});

test("a comment may follow a record, or blanks; in quotes there is none", async () => {
  expect(
    await toldBy(
      "  # last updated 2026-01-01",
      "192.0.2.0/25,DE,DE-HE,Frankfurt # main office, second floor",
      "192.0.2.128/25,FR # no city",
      '198.51.100.0/24,NL,,"Pier #7",# and one more',
    ),
  ).toEqual([
    ["192.0.2.0/25", ["DE", "DE-HE", "Frankfurt"]],
    ["192.0.2.128/25", ["FR", null, null]],
    ["198.51.100.0/24", ["NL", null, "Pier #7"]],
  ]);
});

test("a prefix without a location is a record without a place: all fields empty, or ZZ", async () => {
  expect(await toldBy("192.0.2.0/24,,,,", "198.51.100.0/24,ZZ,,,", "203.0.113.0/24", "2001:db8::/32,zz")).toEqual([
    ["192.0.2.0/24", null],
    ["198.51.100.0/24", null],
    ["203.0.113.0/24", null],
    ["2001:db8::/32", null],
  ]);
});

test("a region without a country is in its country; a city alone is in none", async () => {
  expect(await toldBy("192.0.2.0/24,,NL-NH,,", "198.51.100.0/24,,,Springfield,")).toEqual([
    ["192.0.2.0/24", ["NL", "NL-NH", null]],
    ["198.51.100.0/24", [null, null, "Springfield"]],
  ]);
});

test("lines with fewer or more than five fields are read, and counted with their numbers", async () => {
  const short = Array.from({ length: 7 }, (_, at) => `10.0.${at}.0/24,DE,DE-BE,Berlin`);
  const { report } = await read("192.0.2.0/24,US,US-DC,Washington, D.C.,", ...short);
  expect(report).toMatchObject({ read: 8, accepted: 8, skipped: [] });
  expect(report.notes).toEqual([
    "lines with fewer than five fields, the others read as empty: 7 (line 2, 3, 4, 5, 6, …)",
    "lines with more than five fields, the others ignored: 1 (line 1)",
  ]);
});

test("nested prefixes are two records, and prefixes are counted by family, and those with a location", async () => {
  const { records, report } = await read("192.0.0.0/16,NL,,,", "192.0.2.0/24,ZZ,,,", "2001:db8::/32,NL,,,");
  expect(records).toHaveLength(3);
  expect(report.kinds).toEqual({ "IPv4 prefixes": 2, "IPv6 prefixes": 1, "prefixes with a location": 2 });
});

test("of a repeated prefix the first line stays: an equal one is left out, another one is bad", async () => {
  const { records, report } = await read("192.0.2.0/24,NL,,,", "2001:db8::/32,DE,,,", "192.0.2.0/24,NL,,,x", "2001:0db8::/32,FR,,,");
  expect(records.map(({ place }) => place?.country)).toEqual(["NL", "DE"]);
  expect(report).toMatchObject({ read: 4, accepted: 2 });
  expect(report.skipped).toMatchObject([
    { reason: "appears more than once, with different locations; the first one was kept", bad: true, count: 1, examples: [{ line: 4 }] },
    { reason: "appears more than once, with the same location", bad: false, count: 1, examples: [{ line: 3 }] },
  ]);
});

test.each([
  ["192.0.2.1/24,NL,,,", "the prefix has host bits set"],
  ["nowhere,NL,,,", "has no valid prefix or address"],
  ["192.0.2.0/33,NL,,,", "has no valid prefix or address"],
  ["ip_prefix,alpha2code,region,city,postal", "has no valid prefix or address"],
  ["0.0.0.0/0,NL,,,", "the prefix is larger than a /8, which no network has"],
  ["2000::/3,NL,,,", "the prefix is larger than a /12, which no network has"],
  ["192.0.2.0/24,XX,,,", "the country is not a code of ISO 3166-1"],
  ["192.0.2.0/24,EU,,,", "the country is not a code of ISO 3166-1"],
  ["192.0.2.0/24,NLD,,,", "the country is not a code of ISO 3166-1"],
  ["192.0.2.0/24,NL,NH,,", "the region is not a code of ISO 3166-2, such as NL-NH"],
  ["192.0.2.0/24,,XX-1,,", "the region is not a code of ISO 3166-2, such as NL-NH"],
  ["192.0.2.0/24,NL,DE-BE,,", "the region is not in the country"],
  ["192.0.2.0/24,ZZ,,Berlin,", "the country is ZZ (no location), and there is a region or a city"],
  ["192.0.2.0/24,NL,,A\u0007,", "the city has control characters or more than 256 letters"],
  ['192.0.2.0/24,NL,,"A,', "a quote is not closed"],
])("count %j as bad, with its line", async (line, reason) => {
  const { report } = await read("203.0.113.0/24,DE,,,", line);
  expect(report).toMatchObject({ read: 2, accepted: 1, skipped: [{ reason, bad: true, count: 1, examples: [{ line: 2 }] }] });
});

describe("the time of a file", () => {
  test.each([
    ["# AWS (AS16509) Geofeed, lastupdated (rfc3339): 2026-08-22T16:53:12+00:00", "2026-08-22T16:53:12Z"],
    ["# Last updated: 2026-08-22T16:53:12.5+02:00", "2026-08-22T14:53:12Z"],
    ["# last-updated 2026-08-22T16:53:12Z by hand", "2026-08-22T16:53:12Z"],
    ["# last updated \u2028(rfc3339): 2026-08-22T16:53:12Z", "2026-08-22T16:53:12Z"],
    ["# last updated 2026-08-22", null],
    ["# last updated 2026-02-45T16:53:12Z", null],
    ["# 2026-08-22T16:53:12Z", null],
  ])("in %j is %s", async (comment, expected) => {
    const { report } = await read(comment, "192.0.2.0/24,NL,,,");
    expect(report.asOf === null ? null : new Date(report.asOf * 1000).toISOString().replace(".000", "")).toBe(expected);
  });

  // A cost that rises with the square of the length is a tenth of a second and more for each of these lines.
  test("is looked for in long comments within the time of a small file", async () => {
    const text = `# ${"last updated,".repeat(1_250)}\rx\n`.repeat(200);
    const { report } = await readGeofeed(contentOf(`${text}192.0.2.0/24,NL,,,\n`, 65_536, { secondsMax: 10 }));
    expect(report.asOf).toBeNull();
  });

  test("is not read behind the first record", async () => {
    const { report } = await read("192.0.2.0/24,NL,,,", "# last updated: 2026-08-22T16:53:12Z");
    expect(report.asOf).toBeNull();
  });
});

test.each<[string, string, RegExp]>([
  ["nothing", "", /:1: has no geofeed entries/],
  ["comments alone", "# a feed\n", /:1: has no geofeed entries/],
  ["a list of prefixes", "# prefixes\n192.0.2.0/24\n2001:db8::/32\n", /:2: no line has a comma: this is a list of prefixes, not a geofeed/],
  ["too many bad lines", "192.0.2.0/24,NL,,,\nx,NL,,,\n", /:2: 1 of 2 geofeed entries \(50\.00 %\) are invalid/],
  ["a cut line", "192.0.2.0/24,NL,,,\n198.51.100.0/24,N", /:2: 1 of 2 geofeed entries|:2: is truncated/],
  [
    "a cut line that reads as a whole one",
    "192.0.2.0/24,NL,,,\n198.51.100.0/24,NL,NL-NH,Amster",
    /:2: is truncated: the last line has no line break/,
  ],
])("%s refuses the file", async (_what, text, message) => {
  const error = await failureOf(readGeofeed(contentOf(text, 7)));
  expect(error).toBeInstanceOf(SourceError);
  expect(error.message).toMatch(message);
});
