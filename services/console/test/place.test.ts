/** A place on the map of a location. */

import { expect, test } from "@jest/globals";
import { examples } from "@netfacts/contracts";
import { confidenceWords, coordinates, degreesOf, placeOf, shownKm } from "../src/domain/place.ts";

const { location } = examples.ip;
if (location === null) throw new Error("the example has a location");

test("a location has a place where its coordinates are on the Earth", () => {
  expect(placeOf(location)).toEqual({ latitude: 52.37, longitude: 4.9, radiusKm: 10, outliersKm: [576] });
  expect(placeOf({ ...location, radius_km: null, outliers: null })).toMatchObject({ radiusKm: 0, outliersKm: [] });
  expect(placeOf({ ...location, latitude: 0, longitude: -180 })).toMatchObject({ latitude: 0, longitude: -180 });
  for (const [latitude, longitude] of [
    [null, 4],
    [52, null],
    [90.1, 0],
    [0, 180.1],
    [Number.NaN, 0],
  ] as const)
    expect(placeOf({ ...location, latitude, longitude })).toBeNull();
});

test("the map shows the circle and every ring, never more than the Earth", () => {
  const shown = (radiusKm: number, ...outliersKm: number[]) => shownKm({ latitude: 0, longitude: 0, radiusKm, outliersKm });
  expect(shown(0)).toBe(1_200);
  expect(shown(1_000)).toBe(3_000);
  expect(shown(10, 4_000, 8_000)).toBeGreaterThan(8_000);
  expect(shown(10, 20_000)).toBe(20_015);
  expect([degreesOf(0), degreesOf(20_015), degreesOf(40_000)]).toEqual([0, 180, 180]);
});

test("coordinates and confidence are told in words", () => {
  expect(coordinates({ latitude: 52.37, longitude: 4.9 })).toBe("52.37° N, 4.9° E");
  expect(coordinates({ latitude: -33.9, longitude: -70.7 })).toBe("33.9° S, 70.7° W");
  expect([1, 0.9, 0.89, 0.7, 0.5, 0.49, 0].map(confidenceWords)).toEqual([
    "very likely",
    "very likely",
    "likely",
    "likely",
    "more likely than not",
    "rather a guess",
    "rather a guess",
  ]);
});
