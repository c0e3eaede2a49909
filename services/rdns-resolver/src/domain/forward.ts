/** Forward confirmation: whether a name of an address resolves to this address. */

import { type Address, compareAddresses, parseAddress } from "@netfacts/address";
import type { ForwardConfirmation } from "@netfacts/contracts";

/** Most addresses of a name that are shown. */
export const addressesMax = 16;

/** A forward lookup of one name, before it is judged. */
export interface ForwardFinding {
  readonly status: ForwardConfirmation["status"];
  /** In RFC 5952 form. */
  readonly addresses: readonly string[];
}

/**
 * Judges the addresses of a name.
 *
 * @param ip  in RFC 5952 form.
 * @returns at most `addressesMax` addresses, IPv4 first and ascending, without `isSecret` ones. `ip` is always among them if the name has it.
 */
export function confirm(ip: string, { status, addresses }: ForwardFinding, isSecret: (address: string) => boolean): ForwardConfirmation {
  if (status !== "ok") return { status, confirmed: status === "nxdomain" || status === "nodata" ? false : null, addresses: [] };
  const confirmed = addresses.includes(ip);
  const shown = ascending(addresses.filter((address) => address === ip || !isSecret(address))).slice(0, addressesMax);
  // It is greater than those that are shown: the list stays in order.
  if (confirmed && !shown.includes(ip)) shown.splice(-1, 1, ip);
  return { status, confirmed, addresses: shown };
}

/** As other lists of addresses are sorted, and as people read them: 9.0.0.0 before 10.0.0.0. */
function ascending(texts: readonly string[]): string[] {
  // Texts in RFC 5952 form are addresses.
  const addresses = texts.map((text) => ({ text, address: parseAddress(text) as Address }));
  return addresses.sort((a, b) => compareAddresses(a.address, b.address)).map(({ text }) => text);
}

/**
 * True if any name is confirmed; false only if DNS gave an answer for each name and none is; null otherwise, also without names.
 *
 * @param names  null stands for a name that was not looked up.
 */
export function forwardConfirmed(names: readonly (Pick<ForwardConfirmation, "confirmed"> | null)[]): boolean | null {
  if (names.some((name) => name?.confirmed === true)) return true;
  return names.length > 0 && names.every((name) => name?.confirmed === false) ? false : null;
}
