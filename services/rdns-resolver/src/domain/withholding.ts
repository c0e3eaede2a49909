/** Which PTR questions never leave the house: those about space that is not globally reachable (RFC 6303), unless it is opened. */

import { type Address, containsAddress, type Prefix, parsePrefix, type SpecialPurposeBlock, specialPurposeBlocks } from "@netfacts/address";

/** Reads prefixes with commas between; `faults`: items that are none, or have host bits set. */
export function parseOpenPrefixes(list: string): { prefixes: Prefix[]; faults: string[] } {
  const prefixes: Prefix[] = [];
  const faults: string[] = [];
  for (const item of list.split(",").map((part) => part.trim())) {
    if (item === "") continue;
    const reading = parsePrefix(item);
    if (reading.ok) prefixes.push(reading.prefix);
    else faults.push(item);
  }
  return { prefixes, faults };
}

/** True where the longest special-purpose block of the address is not globally reachable and no open prefix holds it. */
export function isWithheld(address: Address, open: readonly Prefix[]): boolean {
  let longest: SpecialPurposeBlock | null = null;
  for (const block of specialPurposeBlocks) {
    if (containsAddress(block.prefix, address) && (longest === null || block.prefix.length > longest.prefix.length)) longest = block;
  }
  return longest?.globallyReachable === false && !open.some((prefix) => containsAddress(prefix, address));
}
