/** Observations as lines of JSON: every rule once. */

import { expect, test } from "@jest/globals";
import { formatPrefix } from "@netfacts/address";
import { readObservations, readObservationsCsv } from "../../src/readers/observations.ts";
import { SourceError } from "../../src/readers/reader-report.ts";
import { contentOf, failureOf } from "./content.ts";

const latestTime = Date.parse("2026-11-21T00:00:00Z") / 1000;
const read = (...lines: string[]) => readObservations(contentOf(`${lines.join("\n")}\n`, 7, { badRecordsMax: 0.6, latestTime }));
const good = '{"ip": "192.0.2.1", "country": "NL", "observed_at": "2026-11-20T22:14:05Z"}';

test("addresses and prefixes with coordinates, names or both", async () => {
  const { observations, report } = await read(
    '{"ip":"192.0.2.1","lat":52.37,"lon":4.9,"accuracy_km":10,"country":"nl","region":"NL-NH","city":"Amsterdam","observed_at":"2026-11-20T22:14:05.9+01:00","method":"gps"}',
    "",
    '{"prefix":"2001:db8::/48","lat":-33.9,"lon":151,"observed_at":"2026-11-19T00:00:00Z","ip":null,"city":null}',
    '{"prefix":"198.51.100.0/24","region":"DE-BE","observed_at":"2026-11-18t00:00:00z"}',
  );
  const votes = Array.from({ length: observations.size }, (_, at) => [formatPrefix(observations.prefixAt(at)), observations.voteAt(at)]);
  expect(votes).toEqual([
    [
      "192.0.2.1/32",
      {
        country: "NL",
        region: "NL-NH",
        city: "Amsterdam",
        latitude: expect.closeTo(52.37, 5),
        longitude: expect.closeTo(4.9, 5),
        accuracyKm: 10,
        observedAt: Date.parse("2026-11-20T21:14:05Z") / 1000,
      },
    ],
    [
      "2001:db8::/48",
      expect.objectContaining({ country: null, latitude: expect.closeTo(-33.9, 5), longitude: expect.closeTo(151, 5), accuracyKm: null }),
    ],
    ["198.51.100.0/24", expect.objectContaining({ country: "DE", region: "DE-BE", latitude: null, longitude: null })],
  ]);
  expect(observations.voterAt(1)).toBe(observations.voterAt(2));
  expect(observations.voterAt(0)).not.toBe(observations.voterAt(1));
  expect(report).toMatchObject({ read: 3, accepted: 3, skipped: [], asOf: Date.parse("2026-11-20T21:14:05Z") / 1000 });
});

const at = '"observed_at":"2026-11-20T22:14:05Z"';

test.each([
  ["192.0.2.1,NL", "is not JSON"],
  ["[1]", "is not a JSON object"],
  ["null", "is not a JSON object"],
  [`{"ip":"192.0.2.1","country":"NL","accuracy":1,${at}}`, "has an unknown member"],
  [`{"ip":"192.0.2.1","country":"NL","country" : "DE",${at}}`, "country appears twice"],
  [`{"i\\u0070":"192.0.2.1","country":"NL","city":"\\":","ip":"192.0.2.2",${at}}`, "ip appears twice"],
  [`{"country":"NL",${at}}`, "has not one of ip and prefix"],
  [`{"ip":"192.0.2.1","prefix":"192.0.2.0/24","country":"NL",${at}}`, "has not one of ip and prefix"],
  [`{"ip":1,"country":"NL",${at}}`, "has not one of ip and prefix"],
  [`{"ip":"192.0.2.0/24","country":"NL",${at}}`, "ip is not an address"],
  [`{"prefix":"192.0.2.1/24","country":"NL",${at}}`, "the prefix has host bits set"],
  [`{"prefix":"::/0","country":"NL",${at}}`, "the prefix is larger than a /12"],
  [`{"ip":"192.0.2.256","country":"NL",${at}}`, "has no valid prefix or address"],
  [`{"ip":"192.0.2.1",${at}}`, "has neither coordinates nor a country"],
  [`{"ip":"192.0.2.1","country":"ZZ",${at}}`, "has neither coordinates nor a country"],
  [`{"ip":"192.0.2.1","city":"Berlin",${at}}`, "has neither coordinates nor a country"],
  [`{"ip":"192.0.2.1","country":"XX",${at}}`, "the country is not a code of ISO 3166-1"],
  [`{"ip":"192.0.2.1","country":"NL","region":"DE-BE",${at}}`, "the region is not in the country"],
  [`{"ip":"192.0.2.1","country":["NL"],${at}}`, "country, region and city are not all text"],
  [`{"ip":"192.0.2.1","lat":52,${at}}`, "lat and lon are not both numbers"],
  [`{"ip":"192.0.2.1","lat":"52","lon":4,${at}}`, "lat and lon are not both numbers"],
  [`{"ip":"192.0.2.1","lat":90.1,"lon":4,${at}}`, "lat and lon are not both numbers"],
  [`{"ip":"192.0.2.1","lat":1,"lon":-180.1,${at}}`, "lat and lon are not both numbers"],
  [`{"ip":"192.0.2.1","lat":0,"lon":0,${at}}`, "lat and lon are both 0"],
  [`{"ip":"192.0.2.1","lat":1,"lon":1,"accuracy_km":-1,${at}}`, "accuracy_km is not a number from 0 to 20038"],
  [`{"ip":"192.0.2.1","lat":1,"lon":1,"accuracy_km":1e9,${at}}`, "accuracy_km is not a number from 0 to 20038"],
  ['{"ip":"192.0.2.1","country":"NL"}', "observed_at is not a time of RFC 3339"],
  ['{"ip":"192.0.2.1","country":"NL","observed_at":1763676845}', "observed_at is not a time of RFC 3339"],
  ['{"ip":"192.0.2.1","country":"NL","observed_at":"2026-02-30T00:00:00Z"}', "observed_at is not a time of RFC 3339"],
  ['{"ip":"192.0.2.1","country":"NL","observed_at":"2026-01-01T24:00:00Z"}', "observed_at is not a time of RFC 3339"],
  ['{"ip":"192.0.2.1","country":"NL","observed_at":"1969-12-31T00:00:00Z"}', "observed_at is not a time of RFC 3339"],
  ['{"ip":"192.0.2.1","country":"NL","observed_at":"2099-01-01T00:00:00Z"}', "observed_at is in the future"],
  [`{"ip":"192.0.2.1","country":"NL","method":"Two words",${at}}`, "method is not one word"],
])("count %s as bad, with its line", async (line, reason) => {
  const { report } = await read(good, line);
  expect(report).toMatchObject({ read: 2, accepted: 1, skipped: [{ bad: true, count: 1, examples: [{ line: 2 }] }] });
  expect(report.skipped[0]?.reason.startsWith(reason)).toBe(true);
});

test("text with the signs of a member is none", async () => {
  const { report } = await read(`{"ip":"192.0.2.1","country":"NL","city":"a\\":\\"ip\\":",${at}}`);
  expect(report).toMatchObject({ read: 1, accepted: 1, skipped: [] });
});

test.each<[string, string, RegExp]>([
  ["nothing", "", /:1: has no observations/],
  ["too many bad lines", `${good}\nx\n`, /:2: 1 of 2 observations \(50\.00 %\) are invalid/],
  ["a cut line that reads as a whole one", `${good}\n${good}`, /:2: is truncated: the last line has no line break/],
])("%s refuses the file", async (_what, text, message) => {
  const error = await failureOf(readObservations(contentOf(text, 7)));
  expect(error).toBeInstanceOf(SourceError);
  expect(error.message).toMatch(message);
});

const readCsv = (...lines: string[]) => readObservationsCsv(contentOf(`${lines.join("\n")}\n`, 7, { badRecordsMax: 0.6, latestTime }));

test("CSV has the same members as columns, in any order", async () => {
  const { observations, report } = await readCsv(
    "# made up",
    "observed_at,Prefix,ip,lat,lon,accuracy_km,country,region,city,method",
    '2026-11-20T22:14:05Z,,192.0.2.1,52.37,4.9,10,NL,NL-NH,"Amsterdam, Noord",gps',
    "2026-11-19T00:00:00Z,2001:db8::/48,,-33.9,151,,,,,",
  );
  expect([formatPrefix(observations.prefixAt(0)), formatPrefix(observations.prefixAt(1))]).toEqual(["192.0.2.1/32", "2001:db8::/48"]);
  expect(observations.voteAt(0)).toMatchObject({ country: "NL", region: "NL-NH", city: "Amsterdam, Noord", accuracyKm: 10 });
  expect(observations.voteAt(1)).toMatchObject({ country: null, latitude: expect.closeTo(-33.9, 5), accuracyKm: null });
  expect(report).toMatchObject({ read: 2, accepted: 2, skipped: [], asOf: Date.parse("2026-11-20T22:14:05Z") / 1000 });
});

test.each([
  ["2026-11-20T22:14:05Z,192.0.2.1,52,", "lat and lon are not both numbers"],
  ["2026-11-20T22:14:05Z,192.0.2.1,1e1,4", "lat and lon are not both numbers"],
  ["2026-11-20T22:14:05Z,,52,4", "has not one of ip and prefix"],
  [",192.0.2.1,52,4", "observed_at is not a time of RFC 3339"],
  ["2099-11-20T22:14:05Z,192.0.2.1,52,4", "observed_at is in the future"],
  ["2026-11-20T22:14:05Z,192.0.2.1,52", "the number of fields differs from the first line"],
])("CSV counts %s as bad, with its line", async (line, reason) => {
  const { report } = await readCsv("observed_at,ip,lat,lon", "2026-11-20T22:14:05Z,192.0.2.1,52,4", line);
  expect(report).toMatchObject({ read: 2, accepted: 1, skipped: [{ bad: true, count: 1, examples: [{ line: 3 }] }] });
  expect(report.skipped[0]?.reason.startsWith(reason)).toBe(true);
});

test.each([["ip,lat,lon"], ["observed_at,ip,latitude"], ["192.0.2.1,NL,,,"]])("CSV is refused with the first line %j", async (line) => {
  const error = await failureOf(readCsv(line, "2026-11-20T22:14:05Z,192.0.2.1,52,4"));
  expect(error.message).toMatch(/:1: the first line must name the columns \(required: observed_at/);
});
