/** Writes MRT TABLE_DUMP_V2 records for tests; says what a file holds, and can say it wrongly. */

import { parseAddress } from "@netfacts/address";

export interface WrittenPeer {
  readonly address: string;
  readonly asn: number;
  /** 2: the AS number is written in two bytes. Default 4. */
  readonly asBytes?: 2 | 4;
  readonly bgpId?: number;
}

export interface WrittenRoute {
  readonly peer: number;
  /** As `pathText` prints it: `1 2 {3,4}`; "" is an empty AS_PATH, null no such attribute. */
  readonly path: string | null;
  readonly originatedAt?: number;
  /** For ADD-PATH records. */
  readonly pathId?: number;
  /** Attributes written before AS_PATH; default ORIGIN IGP. */
  readonly before?: Uint8Array;
  /** Attributes written after AS_PATH; default none. */
  readonly after?: Uint8Array;
  /** AS_PATH with the two-byte length, needed or not. */
  readonly extended?: boolean;
}

export interface RibOptions {
  readonly timestamp?: number;
  readonly sequence?: number;
  readonly addPath?: boolean;
}

export const writtenAt = 1_700_000_000;

export const u16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
};

export const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export function addressBytes(text: string): Buffer {
  const address = parseAddress(text);
  if (address === null) throw new TypeError(`${text} is no address`);
  const { version, w0, w1, w2, w3 } = address;
  return version === 4 ? u32(w0) : Buffer.concat([u32(w0), u32(w1), u32(w2), u32(w3)]);
}

/** Header (RFC 6396 §2) and body. @param claimedLength  what the header says, when it is to be wrong. */
export function mrtRecord(type: number, subtype: number, body: Uint8Array, timestamp = writtenAt, claimedLength = body.length): Buffer {
  return Buffer.concat([u32(timestamp), u16(type), u16(subtype), u32(claimedLength), body]);
}

/** PEER_INDEX_TABLE (RFC 6396 §4.3.1). */
export function peerIndexRecord(peers: readonly WrittenPeer[], viewName = "", collectorId = 0, timestamp = writtenAt): Buffer {
  const name = Buffer.from(viewName);
  const rows = peers.map(({ address, asn, asBytes = 4, bgpId = 0 }) => {
    const bytes = addressBytes(address);
    const type = (bytes.length === 16 ? 1 : 0) | (asBytes === 4 ? 2 : 0);
    return Buffer.concat([Buffer.of(type), u32(bgpId), bytes, asBytes === 4 ? u32(asn) : u16(asn)]);
  });
  return mrtRecord(13, 1, Buffer.concat([u32(collectorId), u16(name.length), name, u16(peers.length), ...rows]), timestamp);
}

/** A prefix as NLRI (RFC 4271 §4.3); address bits past the length are written as far as the last byte goes. */
export function nlriBytes(prefix: string): Buffer {
  const [address = "", length = ""] = prefix.split("/");
  return Buffer.concat([Buffer.of(Number(length)), addressBytes(address).subarray(0, (Number(length) + 7) >> 3)]);
}

/** A path attribute (RFC 4271 §4.3); the two-byte length where it is needed or asked for. */
export function attribute(flags: number, type: number, value: Uint8Array, extended = value.length > 255): Buffer {
  return extended
    ? Buffer.concat([Buffer.of(flags | 0x10, type), u16(value.length), value])
    : Buffer.concat([Buffer.of(flags, type, value.length), value]);
}

export const originIgp = attribute(0x40, 1, Buffer.of(0));

const segmentTypes: Readonly<Record<string, number>> = { "{": 1, "(": 3, "[": 4 };

/** Segments of a path as `pathText` prints it, with AS numbers of four bytes or two; a sequence longer than 255 is split as routers do. */
export function pathBytes(text: string, asBytes: 2 | 4 = 4): Buffer {
  const segments: Buffer[] = [];
  for (const [part] of text.matchAll(/[{([][^\])}]*[\])}]|\d[\d ]*/g)) {
    const asns = (part.match(/\d+/g) ?? []).map(Number);
    for (let from = 0; from < asns.length; from += 255) {
      const some = asns.slice(from, from + 255);
      segments.push(Buffer.concat([Buffer.of(segmentTypes[part.charAt(0)] ?? 2, some.length), ...some.map(asBytes === 4 ? u32 : u16)]));
    }
  }
  return Buffer.concat(segments);
}

/** A RIB entry (RFC 6396 §4.3.4, with path identifier RFC 8050 §4). */
export function ribEntry(route: WrittenRoute, addPath = false): Buffer {
  const { peer, path, originatedAt = writtenAt, pathId = 0, before = originIgp, after = Buffer.alloc(0), extended } = route;
  const value = path === null ? null : pathBytes(path);
  const asPath = value === null ? Buffer.alloc(0) : attribute(0x40, 2, value, extended ?? value.length > 255);
  const attributes = Buffer.concat([before, asPath, after]);
  return Buffer.concat([u16(peer), u32(originatedAt), addPath ? u32(pathId) : Buffer.alloc(0), u16(attributes.length), attributes]);
}

/** RIB_IPV4_UNICAST or RIB_IPV6_UNICAST, or their ADD-PATH forms (RFC 6396 §4.3.2, RFC 8050 §4). */
export function ribRecord(prefix: string, routes: readonly WrittenRoute[], options: RibOptions = {}): Buffer {
  const { timestamp = writtenAt, sequence = 0, addPath = false } = options;
  const entries = routes.map((route) => ribEntry(route, addPath));
  const body = Buffer.concat([u32(sequence), nlriBytes(prefix), u16(routes.length), ...entries]);
  return mrtRecord(13, (prefix.includes(":") ? 4 : 2) + (addPath ? 6 : 0), body, timestamp);
}
