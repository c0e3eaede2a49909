/** The name and flag of a country, by its code of two letters. */

import type { CountryFlag } from "@netfacts/contracts";
import countries from "i18n-iso-countries/index.js";
import english from "i18n-iso-countries/langs/en.json" with { type: "json" };

countries.registerLocale(english);

/** Codes that registries use in addition to ISO 3166. The European Union has a flag; a region of several countries has none. */
const regions: Readonly<Record<string, { name: string; flag: boolean }>> = {
  EU: { name: "European Union", flag: true },
  AP: { name: "Asia-Pacific region", flag: false },
};

const regionalIndicatorA = 0x1f1e6;
const made = new Map<string, CountryFlag | null>();

/** Whether two capital letters are a country code of ISO 3166-1, or Kosovo's `XK`. */
export function isCountry(code: string): boolean {
  return /^[A-Z]{2}$/.test(code) && countries.isValid(code);
}

/**
 * Name, emoji and SVG path; null for null. Members that a code outside ISO 3166 does not have are null.
 *
 * @param code  two letters as published by a registry.
 */
export function countryFlag(code: string | null): CountryFlag | null {
  if (code === null) return null;
  const known = made.get(code);
  if (known !== undefined) return known;
  const region = regions[code];
  const name = region?.name ?? countries.getName(code, "en", { select: "official" }) ?? null;
  const hasFlag = region?.flag ?? name !== null;
  const flag: CountryFlag = {
    country: code,
    name,
    emoji: hasFlag ? String.fromCodePoint(...Array.from(code, (letter) => regionalIndicatorA + letter.charCodeAt(0) - 65)) : null,
    svg_url: hasFlag ? `/flags/${code.toLowerCase()}.svg` : null,
  };
  made.set(code, flag);
  return flag;
}
