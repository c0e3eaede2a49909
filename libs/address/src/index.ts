/** Public names of @netfacts/address. */

export { compareAddresses, formatAddress, nextAddress, parseAddress } from "./address.ts";
export { AddressList } from "./address-list.ts";
export { formatAsdot, parseAsn, type SpecialPurposeAsn, specialPurposeAsn } from "./asn.ts";
export { embeddedIpv4, plainPrefix } from "./embedded.ts";
export { formatIpv4, parseIpv4 } from "./ipv4.ts";
export { formatIpv6 } from "./ipv6.ts";
export { hashBytes, hashPair, hashWords } from "./keyed-hash.ts";
export { addressMistake, asnMistake, type Mistake, prefixMistake } from "./mistake.ts";
export {
  comparePrefixes,
  containsAddress,
  containsPrefix,
  firstAddress,
  formatPrefix,
  hostPrefix,
  lastAddress,
  makePrefix,
  type PrefixReading,
  parsePrefix,
} from "./prefix.ts";
export { rangeToPrefixes } from "./range.ts";
export { reverseName } from "./reverse-name.ts";
export { type SpecialPurposeBlock, specialPurposeBlocks } from "./special-purpose.ts";
export type { Address, Prefix } from "./types.ts";
