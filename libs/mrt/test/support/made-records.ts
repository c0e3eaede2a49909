/** Sound MRT records of every kind that is read, made by chance from a seed. */

import { addressBytes, attribute, mrtRecord, nlriBytes, pathBytes, peerIndexRecord, u16, u32 } from "./mrt-writer.ts";

/** A small generator of our own (xorshift), so that the same seed makes the same bytes on every machine. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 2654435761) >>> 0 || 1;
  }

  /** An integer from 0 to `bound` - 1. */
  below(bound: number): number {
    let state = this.#state;
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state >>> 0;
    return Math.floor((this.#state / 4294967296) * bound);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }

  /** True once in `times`. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  times<Item>(most: number, make: () => Item): Item[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }

  u32(): number {
    return this.oneIn(4) ? this.pick([0, 1, 0x7fffffff, 0x80000000, 0xffffffff]) : this.below(4294967296);
  }
}

export interface MadeOptions {
  /** Leaves out what bgpdump reads wrongly or not at all (docs/decisions, MRT). */
  readonly asBgpdumpReads?: boolean;
}

const peers = [
  { address: "192.0.2.1", asn: 64500, asBytes: 2 as const },
  { address: "2001:db8::2", asn: 4200000001 },
  { address: "0.0.0.0", asn: 0 },
  { address: "::ffff:198.51.100.7", asn: 23456 },
];

export function madePeerIndex(): Buffer {
  return peerIndexRecord(peers, "made", 0x0a000001);
}

function ipv4(chance: Chance): string {
  return chance.oneIn(8)
    ? chance.pick(["0.0.0.0", "255.255.255.254", "10.0.0.0"])
    : Array.from({ length: 4 }, () => chance.below(256)).join(".");
}

function ipv6(chance: Chance): string {
  const odd = [
    "::",
    "::1",
    "::2",
    "::ffff:1.2.3.4",
    "2001:db8:0:1:0:0:0:1",
    "2001:7f8:30:0:2:1:0:8447",
    "fe80::",
    "1:0:0:2:0:0:0:3",
    "0:1::",
  ];
  if (chance.oneIn(3)) return chance.pick(odd);
  return Array.from({ length: 8 }, () => (chance.oneIn(3) ? "0" : chance.below(65536).toString(16))).join(":");
}

function prefix(chance: Chance, version: 4 | 6): Buffer {
  const max = version === 4 ? 32 : 128;
  const length = chance.oneIn(6) ? chance.pick([0, 1, max]) : chance.below(max + 1);
  return nlriBytes(`${version === 4 ? ipv4(chance) : ipv6(chance)}/${length}`);
}

/** Host bits of prefixes are cleared where bgpdump has to agree, which prints them. */
function masked(bytes: Buffer): Buffer {
  const bits = (bytes[0] as number) % 8;
  if (bits > 0) bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) & (0xff << (8 - bits));
  return bytes;
}

function prefixList(chance: Chance, version: 4 | 6, addPath: boolean, most: number, options: MadeOptions): Buffer {
  const one = () => {
    const bytes = prefix(chance, version);
    return Buffer.concat([addPath ? u32(chance.u32()) : Buffer.alloc(0), options.asBgpdumpReads === true ? masked(bytes) : bytes]);
  };
  return Buffer.concat(chance.times(most, one));
}

/** Of an AS4 attribute: bgpdump uses one with AS 0. */
function as4(chance: Chance, options: MadeOptions): number {
  const asn = chance.u32();
  return options.asBgpdumpReads === true ? Math.max(1, asn) : asn;
}

function path(chance: Chance, asBytes: 2 | 4, options: MadeOptions, confederations = true): Buffer {
  const asn = () => {
    if (asBytes === 4) return confederations ? chance.u32() : as4(chance, options);
    return options.asBgpdumpReads !== true && chance.oneIn(20) ? 0 : chance.pick([23456, chance.below(65536)]);
  };
  const asns = (most: number) => Array.from({ length: 1 + chance.below(most) }, asn);
  const parts = [
    confederations && chance.oneIn(6) ? `(${asns(3).join(" ")})` : "",
    chance.oneIn(8) ? "" : asns(6).join(" "),
    confederations && options.asBgpdumpReads !== true && chance.oneIn(8) ? `[${asns(3).join(",")}]` : "",
    chance.oneIn(5) ? `{${asns(3).join(",")}}` : "",
  ];
  return pathBytes(parts.filter((part) => part !== "").join(" "), asBytes);
}

interface AttributeOptions extends MadeOptions {
  readonly asBytes: 2 | 4;
  readonly addPath: boolean;
  readonly rib: 4 | 6 | null;
}

function nextHops(chance: Chance, version: 4 | 6, options: MadeOptions): Buffer {
  const global = () => addressBytes(ipv6(chance));
  if (version === 4 && (options.asBgpdumpReads !== true || chance.oneIn(2)))
    return Buffer.concat([Buffer.of(4), addressBytes(ipv4(chance))]);
  return chance.oneIn(3) ? Buffer.concat([Buffer.of(32), global(), addressBytes("fe80::1")]) : Buffer.concat([Buffer.of(16), global()]);
}

function attributeList(chance: Chance, options: AttributeOptions): Buffer {
  const { asBytes, addPath, rib } = options;
  const list: Buffer[] = [];
  const put = (rarity: number, flags: number, type: number, value: () => Uint8Array) => {
    if (chance.below(rarity) > 0 && rarity > 1) return;
    const bytes = value();
    list.push(attribute(flags, type, bytes, bytes.length > 255 || chance.oneIn(6)));
  };
  put(1, 0x40, 1, () => Buffer.of(chance.below(3)));
  // bgpdump merges paths of more than one segment wrongly, and counts confederations (RFC 6793 §4.2.3).
  const as4Path = asBytes === 2 && chance.oneIn(3);
  const plain = as4Path && options.asBgpdumpReads === true;
  put(1, 0x40, 2, () => (plain ? pathBytes(chance.pick(["23456", "1 23456 23456", "1 2 3 23456 5"]), 2) : path(chance, asBytes, options)));
  put(2, 0x40, 3, () => addressBytes(ipv4(chance)));
  put(3, 0x80, 4, () => u32(options.asBgpdumpReads === true ? chance.below(0x7fffffff) : chance.u32()));
  put(3, 0x40, 5, () => u32(options.asBgpdumpReads === true ? chance.below(0x7fffffff) : chance.u32()));
  put(4, 0x40, 6, () => Buffer.alloc(0));
  put(4, 0xc0, 7, () => {
    const asn = asBytes === 4 ? u32(chance.u32()) : u16(chance.pick([23456, chance.below(65536)]));
    return Buffer.concat([asn, addressBytes(ipv4(chance))]);
  });
  put(3, 0xc0, 8, () => {
    const values = [u32(0xffffff00 + chance.below(6)), ...chance.times(6, () => u32(chance.u32()))];
    return Buffer.concat(values);
  });
  put(8, 0x80, 9, () => addressBytes(ipv4(chance)));
  put(8, 0x80, 10, () => Buffer.concat(chance.times(3, () => addressBytes(ipv4(chance)))));
  put(6, 0xc0, 16, () => Buffer.concat(chance.times(3, () => Buffer.concat([u32(chance.u32()), u32(chance.u32())]))));
  if (as4Path) put(1, 0xc0, 17, () => path(chance, 4, options, false));
  if (asBytes === 2) put(5, 0xc0, 18, () => Buffer.concat([u32(as4(chance, options)), addressBytes(ipv4(chance))]));
  put(6, 0xc0, 32, () => Buffer.concat(chance.times(3, () => Buffer.concat([u32(chance.u32()), u32(chance.u32()), u32(chance.u32())]))));
  put(6, 0xc0, chance.pick([35, 40, 128, 255]), () => Buffer.from(chance.times(9, () => chance.below(256))));
  if (rib === 6) {
    const hops = nextHops(chance, 6, options);
    const again = () => (chance.oneIn(2) ? Buffer.alloc(0) : prefixList(chance, 6, addPath, 4, options));
    put(2, 0x80, 14, () => (chance.oneIn(2) ? hops : Buffer.concat([Buffer.of(0, 2, 1), hops, Buffer.of(0), again()])));
  } else if (rib === null) {
    for (const version of [4, 6] as const) {
      const head = () => Buffer.of(0, version === 4 ? 1 : 2, 1 + chance.below(3));
      const told = () => prefixList(chance, version, addPath, 4, options);
      put(4, 0x80, 14, () => Buffer.concat([head(), nextHops(chance, version, options), Buffer.of(0), told()]));
      put(6, 0x80, 15, () => Buffer.concat([head(), told()]));
    }
    put(12, 0x80, 15, () => Buffer.concat([Buffer.of(0x40, 4, 71), Buffer.alloc(7, 3)]));
  }
  // bgpdump ends at an AGGREGATOR behind an AS4_AGGREGATOR.
  return Buffer.concat(options.asBgpdumpReads !== true && chance.oneIn(3) ? list.reverse() : list);
}

const withLength = (bytes: Buffer): Buffer => Buffer.concat([u16(bytes.length), bytes]);

function updateBody(chance: Chance, asBytes: 2 | 4, addPath: boolean, options: MadeOptions): Buffer {
  const list = (most: number) => prefixList(chance, 4, addPath, most, options);
  return Buffer.concat([
    withLength(chance.oneIn(3) ? list(5) : Buffer.alloc(0)),
    withLength(attributeList(chance, { ...options, asBytes, addPath, rib: null })),
    list(6),
  ]);
}

function bgpMessage(type: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(16, 255), u16(19 + body.length), Buffer.of(type), body]);
}

function bgp4mpRecord(chance: Chance, options: MadeOptions): Buffer {
  const subtypes = options.asBgpdumpReads === true ? [0, 1, 4, 5, 6, 7, 8, 9] : [0, 1, 4, 5, 6, 7, 8, 9, 10, 11];
  const subtype = chance.pick(subtypes);
  const sent = subtype === 6 || subtype === 7;
  const state = subtype === 0 || subtype === 5;
  const asBytes = [4, 5, 7, 9, 11].includes(subtype) ? 4 : 2;
  const asn = () => (asBytes === 4 ? u32(chance.u32()) : u16(chance.below(65536)));
  // bgpdump prints an IPv4 peer as IPv6 where IPv6 prefixes are withdrawn from it.
  const version = sent && options.asBgpdumpReads === true ? 6 : chance.pick([4, 6] as const);
  const end = () => addressBytes(version === 4 ? ipv4(chance) : ipv6(chance));
  const head = Buffer.concat([asn(), asn(), u16(0), u16(version === 4 ? 1 : 2), end(), end()]);
  const message = () => {
    const kind = chance.below(10);
    if (kind === 0) return bgpMessage(1, Buffer.concat([Buffer.of(4), u16(65000), u16(90), u32(1), Buffer.of(3, 2, 1, 0)]));
    if (kind === 1) return bgpMessage(3, Buffer.of(6, 2, 1, 2, 3));
    if (kind === 2) return bgpMessage(chance.pick([4, 5]), Buffer.alloc(0));
    return bgpMessage(2, updateBody(chance, asBytes, subtype >= 8, options));
  };
  const body = Buffer.concat([head, state ? Buffer.concat([u16(chance.below(9)), u16(chance.below(9))]) : message()]);
  const micro = chance.oneIn(2) ? null : u32(chance.pick([0, 1, 999_999, chance.below(1_000_000)]));
  return mrtRecord(
    micro === null ? 16 : 17,
    subtype,
    micro === null ? body : Buffer.concat([micro, body]),
    1_700_000_000 + chance.below(1000),
  );
}

function ribRecordOf(chance: Chance, options: MadeOptions): Buffer {
  const version = chance.pick([4, 6] as const);
  const addPath = chance.oneIn(2);
  const entries = chance.times(4, () => {
    const list = withLength(attributeList(chance, { ...options, asBytes: 4, addPath, rib: version }));
    return Buffer.concat([u16(chance.below(peers.length)), u32(chance.u32()), addPath ? u32(chance.u32()) : Buffer.alloc(0), list]);
  });
  const bytes = prefix(chance, version);
  const network = options.asBgpdumpReads === true ? masked(bytes) : bytes;
  const body = Buffer.concat([u32(chance.u32()), network, u16(entries.length), ...entries]);
  return mrtRecord(13, (version === 4 ? 2 : 4) + (addPath ? 6 : 0), body);
}

function tableDumpRecord(chance: Chance, options: MadeOptions): Buffer {
  const subtype = options.asBgpdumpReads === true ? 1 + chance.below(3) : 1 + chance.below(4);
  const version = subtype % 2 === 1 ? 4 : 6;
  const asBytes = subtype > 2 ? 4 : 2;
  const bytes = prefix(chance, version);
  const network = Buffer.alloc(version === 4 ? 4 : 16);
  (options.asBgpdumpReads === true ? masked(bytes) : bytes).copy(network, 0, 1);
  const peer = addressBytes(version === 4 ? ipv4(chance) : ipv6(chance));
  const asn = asBytes === 4 ? u32(chance.u32()) : u16(chance.below(65536));
  const list = withLength(attributeList(chance, { ...options, asBytes, addPath: false, rib: version }));
  const times = Buffer.concat([Buffer.of(bytes[0] as number, 1), u32(chance.u32())]);
  return mrtRecord(12, subtype, Buffer.concat([u16(0), u16(chance.below(65536)), network, times, peer, asn, list]));
}

function oldBgpRecord(chance: Chance, options: MadeOptions): Buffer {
  const speaker = () => Buffer.concat([u16(chance.below(65536)), addressBytes(ipv4(chance))]);
  const subtype = chance.pick([1, 1, 1, 3, 7]);
  if (subtype === 3) return mrtRecord(5, 3, Buffer.concat([speaker(), u16(chance.below(9)), u16(chance.below(9))]));
  const head = Buffer.concat([speaker(), speaker()]);
  if (subtype === 7) return mrtRecord(5, 7, head);
  // bgpdump prints the peer's address for a withdrawn prefix of this type, and nothing of other families.
  const list = withLength(
    attributeList(chance, { ...options, asBytes: 2, addPath: false, rib: options.asBgpdumpReads === true ? 4 : null }),
  );
  const withdrawn = options.asBgpdumpReads === true ? Buffer.alloc(0) : prefixList(chance, 4, false, 3, options);
  return mrtRecord(5, 1, Buffer.concat([head, withLength(withdrawn), list, prefixList(chance, 4, false, 4, options)]));
}

/** A record of a kind that is not read. */
function otherRecord(chance: Chance): Buffer {
  const [type, subtype] = chance.pick([
    [13, 6],
    [13, 3],
    [13, 12],
    [16, 2],
    [16, 3],
    [11, 0],
    [48, 0],
    [999, 7],
  ] as const);
  return mrtRecord(type, subtype, Buffer.from(Array.from({ length: 1 + chance.below(30) }, () => chance.below(256))));
}

export function madeRecord(chance: Chance, options: MadeOptions = {}): Buffer {
  const make = chance.pick([
    bgp4mpRecord,
    bgp4mpRecord,
    bgp4mpRecord,
    ribRecordOf,
    ribRecordOf,
    tableDumpRecord,
    oldBgpRecord,
    otherRecord,
  ]);
  return make(chance, options);
}
