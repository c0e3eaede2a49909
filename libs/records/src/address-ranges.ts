/** Ranges of addresses with the same facts in a generation, in order: the rows of an export of all addresses. */

import { type Address, compareAddresses, lastAddress, nextAddress, type Prefix, specialPurposeBlocks } from "@netfacts/address";
import type { Generation } from "@netfacts/snapshot";

/** Inclusive bounds. */
export interface AddressRange {
  readonly first: Address;
  readonly last: Address;
}

const ends: Readonly<Record<4 | 6, Address>> = {
  4: { version: 4, w0: 0xffff_ffff, w1: 0, w2: 0, w3: 0 },
  6: { version: 6, w0: 0xffff_ffff, w1: 0xffff_ffff, w2: 0xffff_ffff, w3: 0xffff_ffff },
};

/**
 * All addresses, IPv4 first, as ranges in ascending order. All addresses of a range have the same `allocation`, `routing`, `rpki`, `network_type`,
 * `location` and `special_purpose`; neighbouring ranges may be equal in these.
 *
 * Cost: eight bytes for each bound of an IPv4 prefix or block, about 100 for one of IPv6.
 */
export function* addressRanges(generation: Generation): Generator<AddressRange> {
  const ipv4: number[] = [0];
  const ipv6: Address[] = [{ version: 6, w0: 0, w1: 0, w2: 0, w3: 0 }];
  const begin = (address: Address) => {
    if (address.version === 4) ipv4.push(address.w0);
    else ipv6.push(address);
  };
  for (const { first, last } of blocksOf(generation)) {
    begin(first);
    const next = nextAddress(last);
    if (next !== null) begin(next);
  }
  const starts = Float64Array.from(ipv4).sort();
  yield* between(4, starts.length, (at) => ({ version: 4, w0: starts[at] as number, w1: 0, w2: 0, w3: 0 }));
  ipv6.sort(compareAddresses);
  yield* between(6, ipv6.length, (at) => ipv6[at] as Address);
}

/** The ranges between starts in ascending order; starts may repeat. */
function* between(version: 4 | 6, count: number, startAt: (at: number) => Address): Generator<AddressRange> {
  let first = startAt(0);
  for (let at = 1; at < count; at++) {
    const next = startAt(at);
    if (compareAddresses(next, first) === 0) continue;
    yield { first, last: previous(next) };
    first = next;
  }
  yield { first, last: ends[version] };
}

/** Every prefix and block of the sections in which addresses differ. */
function* blocksOf({ routes, allocations, networkTypes, locations }: Generation): Generator<AddressRange> {
  for (const { prefix } of specialPurposeBlocks) yield rangeOf(prefix);
  for (const trie of [routes?.prefixes.base, routes?.prefixes.overlay])
    if (trie != null) for (let entry = 0; entry < trie.size; entry++) yield rangeOf(trie.prefixAt(entry));
  for (let record = 0; record < (allocations?.size ?? 0); record++) {
    const { start, end } = (allocations as NonNullable<typeof allocations>).entry(record);
    yield { first: start, last: end };
  }
  for (const [prefix] of networkTypes?.prefixes() ?? []) yield rangeOf(prefix);
  for (const prefix of locations?.prefixes() ?? []) yield rangeOf(prefix);
}

function rangeOf(prefix: Prefix): AddressRange {
  const { version, w0, w1, w2, w3 } = prefix;
  return { first: { version, w0, w1, w2, w3 }, last: lastAddress(prefix) };
}

/** The previous address; `address` must not be the first one. */
function previous({ version, w0, w1, w2, w3 }: Address): Address {
  if (version === 4) return { version, w0: w0 - 1, w1, w2, w3 };
  const words = [w0, w1, w2, w3];
  for (let at = 3; at >= 0; at--) {
    const word = words[at] as number;
    words[at] = (word - 1) >>> 0;
    if (word > 0) break;
  }
  return { version, w0: words[0] as number, w1: words[1] as number, w2: words[2] as number, w3: words[3] as number };
}
