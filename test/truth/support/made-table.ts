/** A small routing table made from a seed, with everything that makes counting hard, and what is true of it. */

import { peerIndexRecord, ribRecord, type WrittenPeer, type WrittenRoute } from "../../../libs/mrt/test/support/mrt-writer.ts";
import type { PlainVrp } from "./origin-rule.ts";
import { type Random, seededRandom } from "./random.ts";

export interface MadeTable {
  readonly rib: Uint8Array;
  /** A rpki-client export; the expired among its VRPs are not in `vrps`. */
  readonly vrpsJson: string;
  readonly vrps: readonly PlainVrp[];
  /** `prefix⇥origin⇥full-feed peers⇥all peers`, in no order. */
  readonly lines: readonly string[];
  /** Each prefix and the full-feed peers that see it as a whole, whatever origin they see. */
  readonly prefixes: readonly { readonly prefix: string; readonly full: number }[];
}

/** Enough for the bound on low visibility to hold, which starts at 10. */
export const fullPeers = 12;
const partialPeers = 2;
const builtAt = Date.UTC(2026, 10, 21) / 1000;

export function makeTable(seed: number): MadeTable {
  const random = seededRandom(seed);
  const peers: WrittenPeer[] = Array.from({ length: fullPeers + partialPeers }, (_, peer) => ({
    address: peer % 3 === 2 ? `2001:7f8::${peer + 1}` : `192.0.2.${peer + 1}`,
    asn: 3000 + peer,
  }));
  /** Prefix → origin → peers. */
  const truth = new Map<string, Map<string, Set<number>>>();
  const records: Uint8Array[] = [];
  const write = (prefix: string, written: string, seers: readonly number[]): void => {
    const addPath = random.chance(0.05);
    const routes: WrittenRoute[] = [];
    const origins = truth.get(prefix) ?? new Map<string, Set<number>>();
    truth.set(prefix, origins);
    const own = 10_000 + random.below(5_000);
    for (const peer of seers) {
      // With ADD-PATH a peer has several paths, of one origin or of two: it counts once for each origin.
      for (let path = 0; path < (addPath ? 3 : 1); path++) {
        const { text, origin } = makePath(random, peers[peer]?.asn ?? 0, own);
        origins.set(origin, (origins.get(origin) ?? new Set()).add(peer));
        routes.push({ peer, path: text, pathId: path + 1 });
      }
    }
    records.push(ribRecord(written, routes, { addPath }));
  };
  for (const prefix of makePrefixes(random)) {
    write(prefix, prefix, seersOf(random));
    // Some prefixes stand twice, the second time with a bit set past the mask, and are one.
    const unmasked = withHostBit(prefix);
    if (unmasked !== null && random.chance(0.1)) write(prefix, unmasked, [random.below(fullPeers), fullPeers]);
  }
  for (const prefix of ["0.0.0.0/0", "::/0"]) write(prefix, prefix, [0, 1, fullPeers]);
  for (let at = records.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [records[at], records[other]] = [records[other] as Uint8Array, records[at] as Uint8Array];
  }
  const isFull = (peer: number) => peer < fullPeers;
  const lines = [...truth].flatMap(([prefix, origins]) =>
    [...origins].map(([origin, seers]) => `${prefix}\t${origin}\t${[...seers].filter(isFull).length}\t${seers.size}`),
  );
  const prefixes = [...truth].map(([prefix, origins]) => ({
    prefix,
    full: [...new Set([...origins.values()].flatMap((seers) => [...seers]))].filter(isFull).length,
  }));
  return { rib: Buffer.concat([peerIndexRecord(peers, "made"), ...records]), lines, prefixes, ...makeVrps(random, lines) };
}

/** Nested prefixes of both families, their text canonical by the way it is made. */
function makePrefixes(random: Random): Set<string> {
  const prefixes = new Set<string>();
  const v4 = (value: number, length: number) => {
    const masked = length === 32 ? value : value - (value % 2 ** (32 - length));
    prefixes.add(`${[24, 16, 8, 0].map((shift) => (masked >>> shift) & 255).join(".")}/${length}`);
  };
  for (let block = 0; block < 40; block++) {
    const base = (20 + block) * 2 ** 24 + random.below(2 ** 24);
    v4(base, 12);
    for (let inner = 0; inner < 50; inner++) {
      const value = base - (base % 2 ** 20) + random.below(2 ** 20);
      // Chains: each of these holds the next.
      for (const length of [16, 20, 24, 32]) if (random.chance(0.3)) v4(value, length - random.below(4));
    }
  }
  // Groups without leading zeros and never zero, so that nothing but the end is shortened (RFC 5952).
  const group = () => (1 + random.below(0xfff)).toString(16);
  for (let block = 0; block < 60; block++) {
    const base = `2a00:${group()}`;
    prefixes.add(`${base}::/32`);
    for (let inner = 0; inner < 8; inner++) {
      const site = `${base}:${group()}`;
      prefixes.add(`${site}::/48`);
      if (random.chance(0.3)) prefixes.add(`${site}:${group()}::/64`);
    }
  }
  return prefixes;
}

/** Nearly all peers, one, two, or none with a full feed. */
function seersOf(random: Random): number[] {
  const partial = [fullPeers, fullPeers + 1].filter(() => random.chance(0.1));
  const kind = random.below(100);
  if (kind < 10) return [random.below(fullPeers), ...partial];
  if (kind < 15) return [0, 1 + random.below(fullPeers - 1), ...partial];
  if (kind < 18) return [fullPeers];
  return [...Array.from({ length: fullPeers }, (_, peer) => peer).filter(() => random.chance(0.95)), ...partial];
}

/** A path as the writer takes it, and the origin that it names. */
function makePath(random: Random, peerAs: number, own: number): { text: string; origin: string } {
  const way = `${peerAs} ${100 + random.below(50)}`;
  const kind = random.below(100);
  if (kind === 0) return { text: "", origin: String(peerAs) };
  if (kind === 1) return { text: `(65010 65011)`, origin: String(peerAs) };
  if (kind === 2) return { text: `${way} {${own + 1},${own},${own + 1}}`, origin: `{${own},${own + 1}}` };
  if (kind === 3) return { text: `${way} {${own}}`, origin: `{${own}}` };
  if (kind === 4) return { text: `${way} {7,8} ${own}`, origin: String(own) };
  if (kind < 10) return { text: `${way} 4200000001`, origin: "4200000001" };
  if (kind < 20) return { text: `${way} ${own} ${own} ${own}`, origin: String(own) };
  return { text: `${way} ${own}`, origin: String(own) };
}

/** The same prefix as a careless writer puts it; null where NLRI has no room past the mask. */
function withHostBit(prefix: string): string | null {
  const [address = "", length = ""] = prefix.split("/");
  if (address.includes(":") || Number(length) % 8 === 0) return null;
  const bytes = address.split(".").map(Number);
  const last = Math.floor(Number(length) / 8);
  return `${bytes.with(last, (bytes[last] as number) | 1).join(".")}/${length}`;
}

/** VRPs that make every state: of the origin and of others, long enough and not, AS 0, expired. */
function makeVrps(random: Random, lines: readonly string[]): Pick<MadeTable, "vrps" | "vrpsJson"> {
  const roas = Array.from({ length: 900 }, () => {
    const [prefix = "", origin = ""] = (lines[random.below(lines.length)] as string).split("\t");
    const length = Number(prefix.slice(prefix.indexOf("/") + 1));
    const asn = random.chance(0.05) ? 0 : random.chance(0.6) && !origin.startsWith("{") ? Number(origin) : 20_000;
    const longest = prefix.includes(":") ? 128 : 32;
    const maxLength = random.chance(0.7) ? length : Math.min(length + 1 + random.below(16), longest);
    return { asn, prefix, maxLength, ta: "made", expires: builtAt + (random.chance(0.1) ? -1 : 86_400 * 30) };
  }).filter(({ prefix }) => !prefix.endsWith("/0"));
  const metadata = { buildtime: new Date(builtAt * 1000).toISOString().replace(".000", "") };
  return { vrps: roas.filter(({ expires }) => expires > builtAt), vrpsJson: JSON.stringify({ metadata, roas }) };
}
