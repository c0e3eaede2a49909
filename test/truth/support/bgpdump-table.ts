/** The route table that the lines of `bgpdump -m` make, by the obvious rules. Shares no code with Netfacts. */

export interface BgpdumpTable {
  /** `prefix⇥origin⇥full-feed peers⇥all peers`, in no order. */
  readonly lines: readonly string[];
  readonly routes: number;
  /** Address and AS of each, by family. */
  readonly fullFeeds: { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] };
}

type Family = "ipv4" | "ipv6";

/** docs/concepts.md, "Full-feed peer". */
const feedLengths = { ipv4: [8, 24], ipv6: [16, 48] } as const;
const feedMin = { ipv4: 100_000, ipv6: 10_000 } as const;
const feedShare = 0.7;
// In Jest a global is looked up by a slow path.
const toNumber = Number;
/** Peers are bits of one number. */
const peersMax = 31;

/** @param knownFeeds  the full-feed peers, if the lines are only a part of a table. */
export async function bgpdumpTable(
  lines: AsyncIterable<string>,
  knownFeeds: BgpdumpTable["fullFeeds"] | null = null,
): Promise<BgpdumpTable> {
  const peers = new Map<string, number>();
  /** Prefix and origin → the peers that see them, as bits. */
  const seen = new Map<string, number>();
  const sizes: Record<Family, Map<string, number>> = { ipv4: new Map(), ipv6: new Map() };
  let routes = 0;
  for await (const line of lines) {
    routes++;
    const [, , , peerAddress = "", peerAs = "", prefix = "", path = ""] = line.split("|");
    const peer = `${peerAddress} ${peerAs}`;
    const number = peers.get(peer) ?? peers.size;
    if (number >= peersMax) throw new RangeError(`more than ${peersMax} peers`);
    peers.set(peer, number);
    const key = `${prefix}\t${originOf(path, peerAs)}`;
    const before = seen.get(key) ?? 0;
    seen.set(key, before | (1 << number));
    const family = familyOf(prefix);
    const length = toNumber(prefix.slice(prefix.indexOf("/") + 1));
    const [shortest, longest] = feedLengths[family];
    if (length >= shortest && length <= longest) sizes[family].set(peer, (sizes[family].get(peer) ?? 0) + 1);
  }
  const fullFeeds = knownFeeds ?? { ipv4: fullFeedsOf("ipv4", sizes.ipv4), ipv6: fullFeedsOf("ipv6", sizes.ipv6) };
  const maskOf = (names: readonly string[]) => names.reduce((mask, name) => mask | (1 << (peers.get(name) ?? 0)), 0);
  const full = { ipv4: maskOf(fullFeeds.ipv4), ipv6: maskOf(fullFeeds.ipv6) };
  const table: string[] = [];
  for (const [key, mask] of seen) table.push(`${key}\t${count(mask & full[familyOf(key)])}\t${count(mask)}`);
  return { lines: table, routes, fullFeeds };
}

/** docs/concepts.md, "Origin". bgpdump writes confederations in round and square brackets. */
function originOf(path: string, peerAs: string): string {
  if (path === "" || /[)\]]$/.test(path)) return peerAs;
  const set = /\{([\d,]+)\}$/.exec(path)?.[1];
  if (set === undefined) return path.slice(path.lastIndexOf(" ") + 1);
  const members = [...new Set(set.split(",").map(Number))].sort((a, b) => a - b);
  return `{${members.join(",")}}`;
}

/** Special-purpose space is not taken off the sizes; that no verdict could hang on it is checked instead. */
function fullFeedsOf(family: Family, sizes: ReadonlyMap<string, number>): string[] {
  const doubt = 1_000;
  const largest = Math.max(0, ...sizes.values());
  const isFull = (size: number, most: number) => size >= feedMin[family] && size >= most * feedShare;
  const full: string[] = [];
  for (const [peer, size] of sizes) {
    const verdict = isFull(size, largest - doubt);
    if (verdict !== isFull(size - doubt, largest)) throw new RangeError(`${peer} carries ${size} prefixes: too near the bound to tell`);
    if (verdict) full.push(peer);
  }
  return full.sort();
}

function familyOf(line: string): Family {
  return line.slice(0, line.indexOf("/")).includes(":") ? "ipv6" : "ipv4";
}

function count(mask: number): number {
  let bits = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) bits++;
  return bits;
}
