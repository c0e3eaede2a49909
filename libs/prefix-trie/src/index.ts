/** The flat, immutable prefix trie: public surface. */

export { type Ipv4Columns, type Ipv6Columns, type PrefixColumns, type PrefixFault, PrefixOrderError } from "./columns.ts";
export type { Ipv4Compact } from "./ipv4-compact.ts";
export { type Ipv4Direct, ipv4DirectMin, ipv4GroupsMax } from "./ipv4-direct.ts";
export type { Ipv6Index } from "./ipv6-index.ts";
export { type SortedPrefixes, sortPrefixes } from "./sort.ts";
export { type EntryRange, PrefixTrie, type PrefixTrieOptions, type PrefixTrieParts } from "./trie.ts";
