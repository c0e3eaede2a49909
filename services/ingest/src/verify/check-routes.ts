/** Compares section `routes` with sampled prefixes of RIBs: slowly, and only by the rules of docs/design/semantics.md#which-routes-count. */

import { type Address, containsAddress, firstAddress, formatAddress, formatPrefix, lastAddress, type Prefix } from "@netfacts/address";
import { decodePath, type PathSegment } from "@netfacts/mrt";
import type { Generation, RouteOrigin, RouteTable } from "@netfacts/snapshot";
import { type Random, randomOf } from "./reservoir.ts";
import type { RibSample, SampledPrefix, SampledRoute } from "./rib-sample.ts";
import { Asking } from "./wrong-answer.ts";

/** The sample of one RIB. */
export interface CollectorSample {
  readonly source: string;
  readonly sample: RibSample;
}

/** @param upstreamsMax  most upstreams that the build keeps per origin @returns the number of records that were compared @throws WrongAnswerError */
export function checkRoutes({ routes, manifest }: Generation, collectors: readonly CollectorSample[], upstreamsMax: number): number {
  const asking = new Asking("routes");
  if (routes === null) return 0;
  const { ipv4 = 0, ipv6 = 0, peers = 0 } = manifest.sections.routes?.counts ?? {};
  // If so, the sampled routes are all routes of their prefixes.
  const isAll = collectors.length === 1 && collectors[0]?.sample.prefixCount === ipv4 + ipv6;
  for (const { source, sample } of collectors) {
    const random = randomOf(source);
    for (const prefix of sample.edges) checkLookups(asking, source, routes, prefix, random);
    for (const sampled of sample.prefixes) checkPrefix(asking, source, routes, sampled, { isAll, peers, random, upstreamsMax });
  }
  return asking.checked;
}

interface Bounds {
  readonly isAll: boolean;
  readonly peers: number;
  readonly random: Random;
  readonly upstreamsMax: number;
}

function checkPrefix(asking: Asking, source: string, routes: RouteTable, { prefix, routes: sampled }: SampledPrefix, bounds: Bounds): void {
  const { isAll, peers } = bounds;
  const entry = checkLookups(asking, source, routes, prefix, bounds.random);
  const found = new Map(routes.origins(entry).map((origin) => [originText(origin), origin]));
  const expected = Map.groupBy(sampled, originOf);
  const demand = asking.of(source, formatPrefix(prefix));
  for (const [text, own] of expected) {
    const seen = found.get(text);
    const count = new Set(own.map(({ peer, peerAs }) => `${formatAddress(peer)} AS${peerAs}`)).size;
    const told = seen === undefined ? 0 : seen.full + seen.partial;
    const holds = isAll ? told === count : told >= count && told <= peers;
    demand(holds, `origin ${text} seen by ${isAll ? "" : "at least "}${count} peers`, () => listText(found));
    checkOrigin(asking, source, routes, { prefix, entry, own }, bounds);
  }
  demand(!isAll || found.size === expected.size, `the origins ${[...expected.keys()].join(" ")} and no other`, () => listText(found));
}

/** Checks that the section has the prefix, and that it or a longer one is the match of its addresses. @returns its entry */
function checkLookups(asking: Asking, source: string, { prefixes }: RouteTable, prefix: Prefix, random: Random): number {
  const demand = asking.of(source, formatPrefix(prefix));
  const entry = prefixes.exact(prefix);
  const shown = (at: number) => (at < 0 ? "no prefix" : formatPrefix(prefixes.prefixAt(at)));
  demand(entry >= 0, "the prefix itself", () => shown(prefixes.covering(prefix)));
  for (const address of [firstAddress(prefix), lastAddress(prefix), addressIn(prefix, random)]) {
    const longest = prefixes.longest(address);
    const match = longest < 0 ? null : prefixes.prefixAt(longest);
    demand(
      match !== null && match.length >= prefix.length && containsAddress(match, address),
      `that or a longer prefix for ${formatAddress(address)}`,
      () => shown(longest),
    );
  }
  return entry;
}

/** Checks that the list of the AS has the prefix, and that the section has the upstreams. */
function checkOrigin(
  asking: Asking,
  source: string,
  routes: RouteTable,
  { prefix, entry, own }: { readonly prefix: Prefix; readonly entry: number; readonly own: readonly SampledRoute[] },
  { isAll, upstreamsMax }: Bounds,
): void {
  const asn = own[0] === undefined ? null : originAs(own[0]);
  if (asn === null || prefix.length === 0) return;
  const demand = asking.of(source, `${formatPrefix(prefix)} of AS${asn}`);
  const listed = routes.originatedBy(asn).entry;
  demand(listed.includes(entry), "it among the prefixes of its origin", () => `${listed.length} others`);
  const told = routes.upstreamsOf(entry, asn)?.items.map((item) => item.asn);
  if (told === undefined) return;
  const nearby = new Set(own.flatMap((route) => upstreamOf(route) ?? []));
  // A list of the maximal length may be cut off.
  const holds = told.length === upstreamsMax || [...nearby].every((each) => told.includes(each));
  const noOther = !isAll || told.every((each) => nearby.has(each));
  demand(holds && noOther, `the upstreams ${[...nearby].join(" ") || "none"}`, () => told.join(" ") || "none");
}

/** The AS number of a route's origin; null for an AS_SET, and if the origin is unknown. */
export function originAs({ path, peerAs }: SampledRoute): number | null {
  const last = segmentsOf(path).at(-1);
  if (last?.type === "set") return null;
  // The path of a route without a peer contains only AS 0.
  const asn = last?.type === "sequence" ? (last.asns.at(-1) ?? null) : peerAs;
  return asn === 0 ? null : asn;
}

/** The origin as a key: `AS3333`, `{1,2}`, `unknown`. */
function originOf(route: SampledRoute): string {
  const last = segmentsOf(route.path).at(-1);
  if (last?.type === "set") return setText(last.asns);
  const asn = originAs(route);
  return asn === null ? "unknown" : `AS${asn}`;
}

/** The AS next to the origin; null for a path with a set, a confederation or a loop, and for a path without another AS. */
function upstreamOf({ path }: SampledRoute): number | null {
  const segments = segmentsOf(path);
  if (segments.some(({ type }) => type !== "sequence")) return null;
  const hops = segments.flatMap(({ asns }) => asns).filter((asn, index, all) => asn !== all[index - 1]);
  return new Set(hops).size < hops.length ? null : (hops.at(-2) ?? null);
}

function segmentsOf(path: Uint8Array): PathSegment[] {
  return decodePath(path, 0, path.length);
}

function originText({ asn, asSet }: RouteOrigin): string {
  if (asSet !== null) return setText(asSet);
  return asn === null ? "unknown" : `AS${asn}`;
}

function setText(asns: readonly number[]): string {
  return `{${[...new Set(asns)].sort((a, b) => a - b).join()}}`;
}

function listText(origins: ReadonlyMap<string, RouteOrigin>): string {
  return [...origins].map(([text, { full, partial }]) => `${text} seen by ${full + partial}`).join(", ");
}

/** A random address of the prefix. */
function addressIn(prefix: Prefix, random: Random): Address {
  const [first, last] = [firstAddress(prefix), lastAddress(prefix)];
  const word = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
  return {
    version: prefix.version,
    w0: word(first.w0, last.w0),
    w1: word(first.w1, last.w1),
    w2: word(first.w2, last.w2),
    w3: word(first.w3, last.w3),
  };
}
