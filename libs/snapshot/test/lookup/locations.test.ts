/** Locations by address, against a search through all records. */

import { expect, test } from "@jest/globals";
import { type Address, containsAddress, firstAddress, formatPrefix, lastAddress, makePrefix } from "@netfacts/address";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import {
  type LocationFound,
  type LocationRecord,
  locationsColumns,
  type Observed,
  type Outliers,
  type PlaceNames,
  sectionChanges,
} from "../../src/index.ts";
import { madeLocations } from "../support/made-sections.ts";
import { madeGeneration } from "../support/made-snapshot.ts";
import { address, prefix } from "../support/text.ts";

const word = fc.oneof(fc.constantFrom(0, 0xffff_ffff, 0x8000_0000), fc.nat(0xffff_ffff));
const anAddress: fc.Arbitrary<Address> = fc.oneof(
  word.map((w0) => ({ version: 4 as const, w0, w1: 0, w2: 0, w3: 0 })),
  fc.tuple(word, word, word, word).map(([w0, w1, w2, w3]) => ({ version: 6 as const, w0, w1, w2, w3 })),
);
const aPlace: fc.Arbitrary<PlaceNames | null> = fc.option(
  fc
    .record({
      country: fc.constantFrom("NL", "DE", null),
      region: fc.constantFrom("NL-NH", null),
      city: fc.constantFrom("Amsterdam", "São Paulo", null),
    })
    .filter(({ country, region, city }) => country !== null || region !== null || city !== null),
);
const someOutliers: fc.Arbitrary<Outliers> = fc
  .array(
    fc.record({
      place: aPlace.map((place) => place ?? { country: null, region: null, city: null }),
      distanceKm: fc.option(fc.nat(20_038)),
      observations: fc.nat(1_000),
      lastDay: fc.nat(0xffff),
    }),
    { maxLength: 3 },
  )
  .chain((places) => fc.record({ observations: fc.integer({ min: Math.sign(places.length), max: 0xffff }), places: fc.constant(places) }));
const someObserved: fc.Arbitrary<Observed> = fc
  .record({
    latitude: fc.integer({ min: -900_000, max: 900_000 }).map((at) => at / 10_000),
    longitude: fc.integer({ min: -1_800_000, max: 1_800_000 }).map((at) => at / 10_000),
    radiusKm: fc.nat(20_000),
    confidence: fc.nat(100).map((share) => share / 100),
    observations: fc.nat(0xffff_ffff),
    lastObservedAt: fc.nat(0xffff_ffff),
    outliers: someOutliers,
    isPlaced: fc.boolean(),
  })
  .map(({ isPlaced, ...observed }) => (isPlaced ? observed : { ...observed, latitude: null, longitude: null, radiusKm: null }));
const aRecord: fc.Arbitrary<LocationRecord> = fc
  .tuple(anAddress, fc.nat(128), aPlace, fc.option(someObserved, { nil: undefined }))
  .map(([one, length, place, observed]) => ({
    prefix: makePrefix(one.version, one.w0, one.w1, one.w2, one.w3, length % (one.version === 4 ? 33 : 129)),
    place,
    ...(place !== null && observed !== undefined && { observed }),
  }));

/** The location of the longest prefix that contains the address, of equal ones the last. */
function slowLocation(records: readonly LocationRecord[], asked: Address): LocationFound | null {
  let best: LocationRecord | null = null;
  for (const record of records)
    if (containsAddress(record.prefix, asked) && (best === null || record.prefix.length >= best.prefix.length)) best = record;
  return best?.place == null ? null : { ...best.place, observed: best.observed ?? null };
}

test("an address has the place of the most specific prefix, of equal ones the last", () => {
  fc.assert(
    fc.property(fc.array(aRecord, { maxLength: 30 }), fc.array(anAddress, { maxLength: 10 }), (records, others) => {
      const { locations } = madeGeneration({ locations: locationsColumns(records) });
      const edges = records.flatMap((one) => [firstAddress(one.prefix), lastAddress(one.prefix)]);
      for (const asked of [...others, ...edges]) expect(locations?.lookupLocation(asked)).toEqual(slowLocation(records, asked));
      const last = new Map(records.map((record) => [formatPrefix(record.prefix), record]));
      for (const record of last.values()) expect(locations?.lookupRecord(record.prefix)).toEqual(record);
      expect([...(locations?.records() ?? [])]).toHaveLength(last.size);
    }),
    { seed: seed(8805), numRuns: runs(300) },
  );
});

test("equal places are stored once", () => {
  const { country, place } = madeLocations({ "192.0.2.0/24": "NL,,A", "198.51.100.0/24": "NL,,A", "203.0.113.0/24": "NL,,B" });
  expect([country.length, [...place]]).toEqual([2, [0, 0, 1]]);
});

test("a prefix without a place has none, also inside one that has, and nothing is known elsewhere", () => {
  const { locations } = madeGeneration({ locations: madeLocations({ "192.0.0.0/16": "NL,,", "192.0.2.0/24": null }) });
  const at = (text: string) => locations?.lookupLocation(address(text));
  expect([at("192.0.1.1"), at("192.0.2.1"), at("198.51.100.1"), at("2001:db8::1")]).toEqual([
    { country: "NL", region: null, city: null, observed: null },
    null,
    null,
    null,
  ]);
  expect(locations?.lookupRecord(prefix("192.0.0.0/17"))).toBeNull();
});

test("of a prefix that no observation contradicts nothing is stored", () => {
  const columns = madeLocations({ "192.0.2.0/24": "NL,, @52,5,10,0.8,3,1763676845", "198.51.100.0/24": "DE,, @,,,0.5,1,1763676845" });
  expect([[...columns.outlier_entry], [...columns.outlier_start], columns.country.length]).toEqual([[], [0], 2]);
  const { locations } = madeGeneration({ locations: columns });
  expect(locations?.lookupLocation(address("192.0.2.1"))?.observed?.outliers).toEqual({ observations: 0, places: [] });
});

test("a diff tells which prefixes have another place or basis, and not which were observed again", () => {
  const from = madeGeneration({
    locations: madeLocations({
      "192.0.2.0/24": "NL,,A",
      "198.51.100.0/24": "NL,,",
      "198.51.100.0/25": "NL,, @52,5,10,0.8,3,1763676845",
      "198.51.100.0/26": "NL,,",
      "2001:db8::/32": "FR,,",
    }),
  });
  const to = madeGeneration({
    locations: madeLocations({
      "192.0.2.0/24": "NL,,B",
      "198.51.100.0/24": "NL,,",
      "198.51.100.0/25": "NL,, @52,5,10,0.9,4,1763676999",
      "198.51.100.0/26": "NL,, @52,5,10,0.9,4,1763676999",
      "203.0.113.0/24": null,
    }),
  });
  const geofeed = { basis: "geofeed", region: null };
  expect([...sectionChanges(from, to, "locations")].map(({ change, identity, to: now }) => [change, identity, now])).toEqual([
    ["changed", { prefix: "192.0.2.0/24" }, { ...geofeed, country: "NL", city: "B" }],
    [
      "changed",
      { prefix: "198.51.100.0/26" },
      { basis: "observation", country: "NL", region: null, city: null, latitude: 52, longitude: 5, radius_km: 10 },
    ],
    ["added", { prefix: "203.0.113.0/24" }, { ...geofeed, country: null, city: null }],
    ["removed", { prefix: "2001:db8::/32" }, null],
  ]);
});
