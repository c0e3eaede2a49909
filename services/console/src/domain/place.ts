/** A place on the map: its coordinates, the part of the Earth that is shown around it, and its confidence in words. */

import type { Location } from "@netfacts/contracts";

export interface Place {
  readonly latitude: number;
  readonly longitude: number;
  /** 0: unknown. */
  readonly radiusKm: number;
  /** Distances of places by other observations. */
  readonly outliersKm: readonly number[];
}

/** The place of a location; null: it has no coordinates that can be drawn. */
export function placeOf({ latitude, longitude, radius_km, outliers }: Location): Place | null {
  if (latitude === null || longitude === null) return null;
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return null;
  return {
    latitude,
    longitude,
    radiusKm: Math.max(0, radius_km ?? 0),
    outliersKm: (outliers?.items ?? []).flatMap(({ distance_km }) => (distance_km === null ? [] : [distance_km])),
  };
}

/** Half of the Earth's circumference. */
const farthestKm = 20_015;
/** Least distance that is shown: the coasts of the map are too coarse for less. */
const shownKmMin = 1_200;

/** The distance from the place to the nearest edge of the map. */
export function shownKm({ radiusKm, outliersKm }: Place): number {
  return Math.min(farthestKm, Math.max(shownKmMin, 3 * radiusKm, ...outliersKm.map((km) => 1.15 * km)));
}

/** The angle at the centre of the Earth, in degrees. */
export function degreesOf(km: number): number {
  return (Math.min(km, farthestKm) / farthestKm) * 180;
}

/** `52.37° N, 4.89° E`. */
export function coordinates({ latitude, longitude }: Pick<Place, "latitude" | "longitude">): string {
  return `${Math.abs(latitude)}° ${latitude < 0 ? "S" : "N"}, ${Math.abs(longitude)}° ${longitude < 0 ? "W" : "E"}`;
}

const words = [
  [0.9, "very likely"],
  [0.7, "likely"],
  [0.5, "more likely than not"],
  [0, "rather a guess"],
] as const;

/** A probability in words. */
export function confidenceWords(confidence: number): string {
  return words.find(([least]) => confidence >= least)?.[1] ?? "rather a guess";
}
