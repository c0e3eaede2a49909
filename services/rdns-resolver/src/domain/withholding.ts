/** PTR questions that are never sent: those about space that is not globally reachable (RFC 6303), unless the operator opens it. */

import {
  type Address,
  containsAddress,
  makePrefix,
  type Prefix,
  parsePrefix,
  type SpecialPurposeBlock,
  specialPurposeBlocks,
} from "@netfacts/address";

/** Site-local addresses: removed from the registry of special-purpose blocks (RFC 3879), but still used inside networks. */
const siteLocal = makePrefix(6, 0xfec0_0000, 0, 0, 0, 10);

/** Reads prefixes separated by commas. `faults`: items that are not prefixes, or have host bits set. */
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

/** True if the address is site-local, or its longest special-purpose block is not globally reachable, and no open prefix contains it. */
export function isWithheld(address: Address, open: readonly Prefix[]): boolean {
  let longest: SpecialPurposeBlock | null = null;
  for (const block of specialPurposeBlocks) {
    if (containsAddress(block.prefix, address) && (longest === null || block.prefix.length > longest.prefix.length)) longest = block;
  }
  const isInternal = longest?.globallyReachable === false || containsAddress(siteLocal, address);
  return isInternal && !open.some((prefix) => containsAddress(prefix, address));
}
