/** AS numbers in lists. */

import { parseAsn } from "@netfacts/address";

/** A dotted text of this or more before `.0` is no AS number that anybody has. */
const fractionMin = 64;
const fractionEnd = 64_086;

/**
 * Reads an AS number in any notation, except one that a spreadsheet or a program wrote as a fraction: `13335.0` would be AS873922560 in asdot. No
 * registry has numbers from 64.0 up to those for private use.
 *
 * @returns null if the text is not an AS number.
 */
export function readListedAsn(text: string): number | null {
  const [, whole = null] = /^(?:AS)?(\d{2,5})\.0$/i.exec(text) ?? [];
  const isFraction = whole !== null && Number(whole) >= fractionMin && Number(whole) < fractionEnd;
  return isFraction ? null : parseAsn(text);
}
