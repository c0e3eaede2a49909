/** The location of an address, its source, and whether it agrees with the registration. */

import type { Address } from "@netfacts/address";
import type { Location, LocationOutliers } from "@netfacts/contracts";
import { type Generation, type Outliers, secondsTimestamp } from "@netfacts/snapshot";
import { isCountry } from "./country-flag.ts";

/** Basis of locations that networks publish for their own prefixes (RFC 8805). */
const geofeedBasis = "geofeed";
/** Basis of locations that the operator observed. */
const observationBasis = "observation";

/**
 * The location of an address; null: it is not known.
 *
 * @param registrationCountry  as published by the registry. `EU` and `AP` are not countries, so they are not compared.
 */
export function locationRecord({ locations }: Generation, ip: Address, registrationCountry: string | null): Location | null {
  const found = locations?.lookupLocation(ip) ?? null;
  if (found === null) return null;
  const { country, region, city, observed } = found;
  const comparable = country !== null && registrationCountry !== null && isCountry(registrationCountry);
  return {
    country,
    region,
    city,
    latitude: observed?.latitude ?? null,
    longitude: observed?.longitude ?? null,
    radius_km: observed?.radiusKm ?? null,
    basis: observed === null ? geofeedBasis : observationBasis,
    confidence: observed?.confidence ?? null,
    observations: observed?.observations ?? 0,
    last_observed_at: observed === null ? null : secondsTimestamp(observed.lastObservedAt),
    outliers: outliersRecord(observed?.outliers ?? null),
    agrees_with_registration: comparable ? country === registrationCountry : null,
  };
}

const dayMs = 86_400_000;

function outliersRecord(outliers: Outliers | null): LocationOutliers | null {
  if (outliers === null) return null;
  return {
    observations: outliers.observations,
    items: outliers.places.map(({ place: { country, region, city }, distanceKm, observations, lastDay }) => ({
      country,
      region,
      city,
      distance_km: distanceKm,
      observations,
      last_observed_on: new Date(lastDay * dayMs).toISOString().slice(0, 10),
    })),
  };
}
