/** Forward confirmation: whether a name leads back to the address that it is the name of. */

import type { ForwardConfirmation } from "@netfacts/contracts";

/** Of a name with more addresses these are shown. */
export const addressesMax = 16;

/** A forward lookup of one name, before it is judged. */
export interface ForwardFinding {
  readonly status: ForwardConfirmation["status"];
  /** In RFC 5952 form. */
  readonly addresses: readonly string[];
}

/** @param ip  in RFC 5952 form. @returns at most `addressesMax` addresses, ascending by their text, that of the question always among them; `isSecret` ones are left out. */
export function confirm(ip: string, { status, addresses }: ForwardFinding, isSecret: (address: string) => boolean): ForwardConfirmation {
  if (status !== "ok") return { status, confirmed: status === "nxdomain" || status === "nodata" ? false : null, addresses: [] };
  const confirmed = addresses.includes(ip);
  const shown = addresses.filter((address) => !isSecret(address)).slice(0, addressesMax);
  if (confirmed && !shown.includes(ip)) shown.splice(-1, 1, ip);
  return { status, confirmed, addresses: shown.sort() };
}

/**
 * True when any of the names leads back; false only when DNS gave an answer about each and none does; null otherwise, also without names.
 *
 * @param names  with null for a name that was not looked up.
 */
export function forwardConfirmed(names: readonly (Pick<ForwardConfirmation, "confirmed"> | null)[]): boolean | null {
  if (names.some((name) => name?.confirmed === true)) return true;
  return names.length > 0 && names.every((name) => name?.confirmed === false) ? false : null;
}
