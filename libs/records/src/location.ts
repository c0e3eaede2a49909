/** Where an address is used, who says so, and whether its registration agrees. */

import type { Address } from "@netfacts/address";
import type { Location } from "@netfacts/contracts";
import type { Generation } from "@netfacts/snapshot";
import { isCountry } from "./country-flag.ts";

/** Of what networks publish about their own prefixes (RFC 8805). */
const geofeedBasis = "geofeed";

/**
 * The location of an address, null where nothing is known of it.
 *
 * @param registrationCountry  as the registry published it. `EU` and `AP` are no countries: nothing can be compared with them.
 */
export function locationRecord({ locations }: Generation, ip: Address, registrationCountry: string | null): Location | null {
  const place = locations?.lookupPlace(ip) ?? null;
  if (place === null) return null;
  const { country, region, city } = place;
  const comparable = country !== null && registrationCountry !== null && isCountry(registrationCountry);
  return {
    country,
    region,
    city,
    latitude: null,
    longitude: null,
    radius_km: null,
    basis: geofeedBasis,
    confidence: null,
    observations: 0,
    last_observed_at: null,
    agrees_with_registration: comparable ? country === registrationCountry : null,
  };
}
