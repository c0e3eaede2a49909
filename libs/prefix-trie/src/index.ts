/** The flat, immutable prefix trie: public surface. */

export { type Ipv4Columns, type Ipv6Columns, type PrefixColumns, type PrefixFault, PrefixOrderError } from "./columns.ts";
export { ipv4DirectMin } from "./ipv4-direct.ts";
export { type SortedPrefixes, sortPrefixes } from "./sort.ts";
export { type EntryRange, PrefixTrie, type PrefixTrieOptions, type PrefixTrieParts } from "./trie.ts";
