/** Addresses and prefixes of tests from their text. */

import { type Address, type Prefix, parseAddress, parsePrefix } from "@netfacts/address";

export function address(text: string): Address {
  const found = parseAddress(text);
  if (found === null) throw new TypeError(`${text} is no address`);
  return found;
}

export function prefix(text: string): Prefix {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new TypeError(`${text} is no prefix`);
  return reading.prefix;
}
