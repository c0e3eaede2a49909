/** A country code of two letters as one number; 0: none. */

import { SectionFormatError } from "./columns.ts";

/** @param code  two capital letters, or null. */
export function packCountry(code: string | null): number {
  return code === null ? 0 : (code.charCodeAt(0) << 8) | code.charCodeAt(1);
}

/** Reverses `packCountry`. */
export function countryText(code: number): string | null {
  return code === 0 ? null : String.fromCharCode(code >> 8, code & 0xff);
}

/** Checks that each code is two capital letters, or 0. Throws `SectionFormatError`. */
export function checkCountries(kind: string, name: string, codes: Uint16Array): void {
  const isLetter = (code: number): boolean => code >= 65 && code <= 90;
  codes.forEach((code, index) => {
    if (code !== 0 && !(isLetter(code >> 8) && isLetter(code & 0xff)))
      throw new SectionFormatError(`section ${kind}: column ${name}[${index}] is not two letters`);
  });
}
