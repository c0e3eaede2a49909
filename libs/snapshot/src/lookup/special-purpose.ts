/** Special-purpose address space, found by address (IANA registries; RFC 6890, RFC 8190). */

import { type Address, type Prefix, type SpecialPurposeBlock, specialPurposeBlocks } from "@netfacts/address";
import { PrefixTrie, sortPrefixes } from "@netfacts/prefix-trie";

const sorted = sortPrefixes(specialPurposeBlocks.map((block) => block.prefix));
const trie = PrefixTrie.build(sorted.columns);

/** The number of the entry, usable as a cache key; -1 when the address is in no special-purpose block. */
export function specialPurposeEntry(address: Address): number {
  return trie.longest(address);
}

/** Whether a special-purpose block lies strictly inside the prefix. */
export function specialPurposeInside(prefix: Prefix): boolean {
  const { start, end } = trie.moreSpecifics(prefix);
  return end > start;
}

/** The longest special-purpose block that holds the address, null when there is none. */
export function lookupSpecialPurpose(address: Address): SpecialPurposeBlock | null {
  return blockAt(trie.longest(address));
}

/** The longest special-purpose block that holds the whole prefix, null when there is none. */
export function lookupSpecialPurposePrefix(prefix: Prefix): SpecialPurposeBlock | null {
  return blockAt(trie.covering(prefix));
}

function blockAt(entry: number): SpecialPurposeBlock | null {
  return entry < 0 ? null : (specialPurposeBlocks[sorted.order[entry] as number] as SpecialPurposeBlock);
}

/** An address in a block is global if the block is globally reachable. Any other address is global if it is IPv4 unicast or in 2000::/3. */
export function isGlobal(address: Address, block: SpecialPurposeBlock | null): boolean {
  if (block !== null) return block.globallyReachable === true;
  return address.version === 4 || address.w0 >>> 29 === 1;
}
