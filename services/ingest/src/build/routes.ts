/** Builds section `routes` and object `paths` from a pass over RIBs: full feeds, origins with their peers, the index by AS. */

import type { Prefix } from "@netfacts/address";
import {
  GrowableUint8,
  GrowableUint16,
  GrowableUint32,
  lookupSpecialPurposePrefix,
  originKind,
  type PathsColumns,
  type RoutesColumns,
} from "@netfacts/dataset";
import { pathOrigin } from "./path-table.ts";
import type { FamilyRoutes, RibPass } from "./rib-pass.ts";

/** When a peer counts as carrying the full table of a family (SEMANTICS, Which routes count). */
export interface FullFeedRule {
  /** Share of the largest peer's prefixes. */
  readonly share: number;
  readonly min: { readonly ipv4: number; readonly ipv6: number };
}

export interface BuiltRoutes {
  readonly routes: RoutesColumns;
  readonly paths: PathsColumns;
  readonly peersTotal: { readonly ipv4: number; readonly ipv6: number };
  readonly counts: {
    readonly ipv4: number;
    readonly ipv6: number;
    readonly origins: number;
    readonly as_set_origins: number;
    readonly peers: number;
  };
}

/** Prefix lengths whose number says how full a feed is. */
const feedLengths = { ipv4: [8, 24], ipv6: [16, 48] } as const;

export function buildRoutes(pass: RibPass, rule: FullFeedRule): BuiltRoutes {
  const order4 = pass.ipv4.order();
  const order6 = pass.ipv6.order();
  const full4 = fullFeeds(pass.ipv4, order4, feedLengths.ipv4, pass.peers.length, rule.share, rule.min.ipv4);
  const full6 = fullFeeds(pass.ipv6, order6, feedLengths.ipv6, pass.peers.length, rule.share, rule.min.ipv6);
  const builder = new RoutesBuilder(pass);
  const v4 = builder.addFamily(pass.ipv4, order4, full4);
  const v6 = builder.addFamily(pass.ipv6, order6, full6);
  const count = (flags: Uint8Array) => flags.reduce((sum, flag) => sum + flag, 0);
  const built = builder.finish(v4, v6, full4, full6);
  return { ...built, peersTotal: { ipv4: count(full4), ipv6: count(full6) } };
}

/** Calls back once per distinct prefix with the positions in `order` that hold it. */
function forEachPrefix(family: FamilyRoutes, order: Uint32Array, visit: (from: number, to: number) => void): void {
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && family.compare(order[from] as number, order[to] as number) === 0) to++;
    visit(from, to);
    from = to;
  }
}

function prefixOf(family: FamilyRoutes, index: number): Prefix {
  const { words } = family;
  const length = family.length[index] as number;
  if (family.wordsPerPrefix === 1) return { version: 4, w0: words[index] as number, w1: 0, w2: 0, w3: 0, length };
  const at = index * 4;
  return {
    version: 6,
    w0: words[at] as number,
    w1: words[at + 1] as number,
    w2: words[at + 2] as number,
    w3: words[at + 3] as number,
    length,
  };
}

/** One flag per peer: 1 = carries a full table of the family. */
function fullFeeds(
  family: FamilyRoutes,
  order: Uint32Array,
  [shortest, longest]: readonly [number, number],
  peers: number,
  share: number,
  min: number,
): Uint8Array {
  const sizes = new Uint32Array(peers);
  const stamp = new Uint32Array(peers);
  let group = 0;
  forEachPrefix(family, order, (from, to) => {
    const first = order[from] as number;
    const length = family.length[first] as number;
    if (length < shortest || length > longest || lookupSpecialPurposePrefix(prefixOf(family, first)) !== null) return;
    group++;
    for (let at = from; at < to; at++) {
      const index = order[at] as number;
      const end = family.end(index);
      for (let route = family.start[index] as number; route < end; route++) {
        const peer = family.peer[route] as number;
        if (stamp[peer] === group) continue;
        stamp[peer] = group;
        (sizes[peer] as number)++;
      }
    }
  });
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0);
  return Uint8Array.from(sizes, (size) => (size > 0 && size >= min && size / largest >= share ? 1 : 0));
}

/** One origin of the prefix at hand. */
interface OriginCount {
  kind: number;
  value: number;
  full: number;
  partial: number;
}

interface FamilyColumns {
  readonly words: Uint32Array;
  readonly length: Uint8Array;
}

class RoutesBuilder {
  readonly #pass: RibPass;
  readonly #originStart = new GrowableUint32();
  readonly #originKind = new GrowableUint8();
  readonly #originValue = new GrowableUint32();
  readonly #originFull = new GrowableUint16();
  readonly #originPartial = new GrowableUint16();
  readonly #prefixFull = new GrowableUint16();
  readonly #prefixPartial = new GrowableUint16();
  readonly #defaultOrigins = new Set<number>();
  readonly #routeStart = new GrowableUint32();
  readonly #routePeer = new GrowableUint16();
  readonly #routePath = new GrowableUint32();
  /** Entries so far. */
  #entries = 0;
  readonly #originEntry = new GrowableUint32();

  constructor(pass: RibPass) {
    this.#pass = pass;
  }

  addFamily(family: FamilyRoutes, order: Uint32Array, full: Uint8Array): FamilyColumns {
    const { kinds, values } = this.#pass.paths;
    const { peers } = this.#pass;
    const size = family.wordsPerPrefix;
    const words = new GrowableUint32();
    const lengths = new GrowableUint8();
    const stamp = new Uint32Array(peers.length);
    // Origins of one prefix are few, so a list that is searched beats any map; it is used again for every prefix.
    const origins: OriginCount[] = [];
    let used = 0;
    let group = 0;

    forEachPrefix(family, order, (from, to) => {
      group++;
      used = 0;
      let prefixFull = 0;
      let prefixPartial = 0;
      this.#routeStart.push(this.#routePeer.length);
      for (let at = from; at < to; at++) {
        const index = order[at] as number;
        const end = family.end(index);
        for (let route = family.start[index] as number; route < end; route++) {
          const peer = family.peer[route] as number;
          const path = family.path[route] as number;
          this.#routePeer.push(peer);
          this.#routePath.push(path);
          let kind = kinds[path] as number;
          let value = values[path] as number;
          if (kind === pathOrigin.peer) {
            value = peers[peer]?.asn ?? 0;
            kind = value === 0 ? originKind.unknown : originKind.as;
          }
          let slot = 0;
          while (slot < used && (origins[slot]?.kind !== kind || origins[slot]?.value !== value)) slot++;
          if (slot === used) {
            const fresh = origins[used];
            if (fresh === undefined) origins.push({ kind, value, full: 0, partial: 0 });
            else {
              fresh.kind = kind;
              fresh.value = value;
              fresh.full = 0;
              fresh.partial = 0;
            }
            used++;
          }
          const origin = origins[slot] as OriginCount;
          const isFull = full[peer] === 1;
          // A peer with several paths to a prefix (ADD-PATH, a prefix listed twice) counts once per origin and once in all.
          if (stamp[peer] === group) {
            if (this.#sawBefore(family, order, from, at, route, peer, kind, value)) continue;
          } else {
            stamp[peer] = group;
            if (isFull) prefixFull++;
            else prefixPartial++;
          }
          if (isFull) origin.full++;
          else origin.partial++;
        }
      }
      const first = order[from] as number;
      const length = family.length[first] as number;
      for (let word = 0; word < size; word++) words.push(family.words[first * size + word] as number);
      lengths.push(length);
      this.#prefixFull.push(prefixFull);
      this.#prefixPartial.push(prefixPartial);
      this.#pushOrigins(origins.slice(0, used), length === 0);
      this.#entries++;
    });
    return { words: words.view().slice(), length: lengths.view().slice() };
  }

  finish(v4: FamilyColumns, v6: FamilyColumns, full4: Uint8Array, full6: Uint8Array): Omit<BuiltRoutes, "peersTotal"> {
    this.#originStart.push(this.#originKind.length);
    this.#routeStart.push(this.#routePeer.length);
    const { peers, paths } = this.#pass;
    const sets = packSets(paths.sets);
    const kinds = this.#originKind.view();
    const routes: RoutesColumns = {
      v4_address: v4.words,
      v4_length: v4.length,
      v6_words: v6.words,
      v6_length: v6.length,
      origin_start: this.#originStart.view(),
      origin_kind: kinds,
      origin_value: this.#originValue.view(),
      origin_full: this.#originFull.view(),
      origin_partial: this.#originPartial.view(),
      prefix_full: this.#prefixFull.view(),
      prefix_partial: this.#prefixPartial.view(),
      ...sets,
      ...this.#indexByAs(),
    };
    const peerWords = new Uint32Array(peers.length * 4);
    for (const [index, { address }] of peers.entries()) peerWords.set([address.w0, address.w1, address.w2, address.w3], index * 4);
    return {
      routes,
      paths: {
        path_start: paths.startColumn(),
        path_bytes: paths.bytesColumn(),
        route_start: this.#routeStart.view(),
        route_peer: this.#routePeer.view(),
        route_path: this.#routePath.view(),
        peer_version: Uint8Array.from(peers, ({ address }) => address.version),
        peer_words: peerWords,
        peer_asn: Uint32Array.from(peers, ({ asn }) => asn),
        peer_full: Uint8Array.from(peers, (_, peer) => (full4[peer] as number) | ((full6[peer] as number) << 1)),
        peer_collector: Uint16Array.from(peers, ({ collector }) => collector),
      },
      counts: {
        ipv4: v4.length.length,
        ipv6: v6.length.length,
        origins: kinds.length,
        as_set_origins: kinds.reduce((sum, kind) => (kind === originKind.asSet ? sum + 1 : sum), 0),
        peers: peers.length,
      },
    };
  }

  /** Whether an earlier route of the same prefix had this peer and this origin. */
  #sawBefore(
    family: FamilyRoutes,
    order: Uint32Array,
    from: number,
    to: number,
    last: number,
    peer: number,
    kind: number,
    value: number,
  ): boolean {
    const { kinds, values } = this.#pass.paths;
    const peerAsn = this.#pass.peers[peer]?.asn ?? 0;
    for (let at = from; at <= to; at++) {
      const index = order[at] as number;
      const end = at === to ? last : family.end(index);
      for (let route = family.start[index] as number; route < end; route++) {
        if (family.peer[route] !== peer) continue;
        const path = family.path[route] as number;
        const ownAs = kinds[path] === pathOrigin.peer;
        const routeValue = ownAs ? peerAsn : (values[path] as number);
        const routeKind = ownAs ? (peerAsn === 0 ? originKind.unknown : originKind.as) : kinds[path];
        if (routeKind === kind && routeValue === value) return true;
      }
    }
    return false;
  }

  #pushOrigins(origins: OriginCount[], isDefault: boolean): void {
    if (origins.length > 1) origins.sort((a, b) => b.full - a.full || b.partial - a.partial || a.kind - b.kind || a.value - b.value);
    this.#originStart.push(this.#originKind.length);
    for (const origin of origins) {
      if (isDefault) this.#defaultOrigins.add(this.#originKind.length);
      this.#originEntry.push(this.#entries);
      this.#originKind.push(origin.kind);
      this.#originValue.push(origin.value);
      this.#originFull.push(origin.full);
      this.#originPartial.push(origin.partial);
    }
  }

  /** Counting sort of the origins by AS number; default routes are nobody's prefixes. */
  #indexByAs(): Pick<RoutesColumns, "as_number" | "as_start" | "as_origin" | "as_entry"> {
    const kinds = this.#originKind.view();
    const values = this.#originValue.view();
    const entries = this.#originEntry.view();
    const counts = (origin: number) => kinds[origin] === originKind.as && !this.#defaultOrigins.has(origin);
    const sorted = values.filter((_, origin) => counts(origin)).sort();
    const numbers = sorted.filter((asn, index) => index === 0 || asn !== sorted[index - 1]);
    const rank = new Map<number, number>();
    for (const [index, asn] of numbers.entries()) rank.set(asn, index);
    const start = new Uint32Array(numbers.length + 1);
    for (let index = 0, number = 0; index < sorted.length; index++) {
      if (sorted[index] !== numbers[number]) number++;
      (start[number + 1] as number)++;
    }
    for (let number = 0; number < numbers.length; number++) start[number + 1] = (start[number] as number) + (start[number + 1] as number);
    const next = start.slice();
    const asOrigin = new Uint32Array(sorted.length);
    const asEntry = new Uint32Array(sorted.length);
    for (let origin = 0; origin < kinds.length; origin++) {
      if (!counts(origin)) continue;
      const number = rank.get(values[origin] as number) as number;
      const at = next[number] as number;
      next[number] = at + 1;
      asOrigin[at] = origin;
      asEntry[at] = entries[origin] as number;
    }
    return { as_number: numbers, as_start: start, as_origin: asOrigin, as_entry: asEntry };
  }
}

function packSets(sets: readonly (readonly number[])[]): { set_start: Uint32Array; set_member: Uint32Array } {
  const start = new Uint32Array(sets.length + 1);
  sets.forEach((members, set) => {
    start[set + 1] = (start[set] as number) + members.length;
  });
  return { set_start: start, set_member: Uint32Array.from(sets.flat()) };
}
