/** A thread that is posted the parts of a trie and addresses, and posts back the matches. */

import { parentPort, workerData } from "node:worker_threads";
import type { Address } from "@netfacts/address";
import { PrefixTrie, type PrefixTrieParts } from "../src/index.ts";

const { parts, addresses } = workerData as { parts: PrefixTrieParts; addresses: Address[] };
const trie = PrefixTrie.fromParts(parts);
parentPort?.postMessage(addresses.map((address) => trie.longest(address)));
