/** Shared by geofeeds and observations: prefixes that may have a location, and names of places. */

import { containsPrefix, formatPrefix, hostPrefix, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";
import { isCountry } from "@netfacts/records";
import type { PlaceNames } from "@netfacts/snapshot";
import { nameLettersMax, readName } from "./as-profiles.ts";

/**
 * Shortest allowed prefix; no network has more: IANA delegates IPv4 by /8, and at most a /12 of IPv6. A `0.0.0.0/0` would give a place to the whole
 * internet.
 */
const lengthMin = { 4: 8, 6: 12 } as const;

/** Code that was used to say that a prefix has no location (RFC 8805 §2.1.2). */
const nowhere = "ZZ";

/** A place, null for none, or text to say what is wrong. */
export type PlaceReading = PlaceNames | null | string;

/** Reads a prefix, or an address as a prefix of full length. Returns text to say what is wrong. */
export function readLocatedPrefix(text: string): Prefix | string {
  const reading = parsePrefix(text);
  if (!reading.ok && reading.fault === "host-bits") return "the prefix has host bits set";
  const address = reading.ok ? null : parseAddress(text);
  const prefix = reading.ok ? reading.prefix : address && hostPrefix(address);
  if (prefix === null) return "has no valid prefix or address";
  const min = lengthMin[prefix.version];
  return prefix.length < min ? `the prefix is larger than a /${min}, which no network has` : prefix;
}

/** Key of a prefix in a map: a number for IPv4, which takes 80 bytes less than its text. */
export function mapKey(prefix: Prefix): number | string {
  // A length takes six bits.
  return prefix.version === 4 ? prefix.w0 * 64 + prefix.length : formatPrefix(prefix);
}

/** Reason of records that are left out because of `covers`. */
export const notCovered = "is outside of covers";

/** Whether a source may speak of a prefix. */
export function isCovered(prefix: Prefix, covers: readonly Prefix[] | null | undefined): boolean {
  return covers == null || covers.some((one) => containsPrefix(one, prefix));
}

/** Reads the names of a place as written; empty for none. A region without a country is in the country that its code begins with. */
export function readPlaceNames(alpha2: string, subdivision: string, cityText: string): PlaceReading {
  const code = alpha2.toUpperCase();
  const region = subdivision.toUpperCase();
  const city = readName(cityText);
  if (code !== "" && code !== nowhere && !isCountry(code)) return "the country is not a code of ISO 3166-1";
  if (region !== "" && !(/^[A-Z]{2}-[A-Z0-9]{1,3}$/.test(region) && isCountry(region.slice(0, 2))))
    return "the region is not a code of ISO 3166-2, such as NL-NH";
  if (city === null) return `the city has control characters or more than ${nameLettersMax} letters`;
  if (code === nowhere && (region !== "" || city !== "")) return "the country is ZZ (no location), and there is a region or a city";
  if (code === nowhere || (code === "" && region === "" && city === "")) return null;
  const country = code === "" ? region.slice(0, 2) : code;
  if (region !== "" && region.slice(0, 2) !== country) return "the region is not in the country";
  return { country: country || null, region: region || null, city: city || null };
}
