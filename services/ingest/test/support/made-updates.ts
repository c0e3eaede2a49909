/** Records of BGP sessions, made for tests: updates of both families, and changes of state. */

import {
  addressBytes,
  attribute,
  mrtRecord,
  nlriBytes,
  originIgp,
  pathBytes,
  u16,
  u32,
} from "../../../../libs/mrt/test/support/mrt-writer.ts";

export interface MadePeer {
  readonly address: string;
  readonly asn: number;
}

export interface MadeUpdate {
  /** Unix seconds. */
  readonly at: number;
  readonly subtype?: number;
  readonly withdrawn?: readonly string[];
  readonly announced?: readonly string[];
  readonly path?: string;
  readonly pathId?: number;
}

/** An update of a peer; IPv6 prefixes go into MP attributes. */
export function madeUpdate(peer: MadePeer, made: MadeUpdate): Buffer {
  const { at, subtype = 4, withdrawn = [], announced = [], path = "64500 1", pathId } = made;
  const list = (prefixes: readonly string[], ipv6: boolean) =>
    Buffer.concat(
      prefixes
        .filter((prefix) => prefix.includes(":") === ipv6)
        .map((prefix) => Buffer.concat([pathId === undefined ? Buffer.alloc(0) : u32(pathId), nlriBytes(prefix)])),
    );
  const [reach, unreach] = [list(announced, true), list(withdrawn, true)];
  const attributes = Buffer.concat([
    ...(announced.length > 0 ? [originIgp, attribute(0x40, 2, pathBytes(path)), attribute(0x40, 3, addressBytes("192.0.2.9"))] : []),
    ...(reach.length > 0
      ? [attribute(0x80, 14, Buffer.concat([Buffer.of(0, 2, 1, 16), addressBytes("2001:db8::9"), Buffer.of(0), reach]))]
      : []),
    ...(unreach.length > 0 ? [attribute(0x80, 15, Buffer.concat([Buffer.of(0, 2, 1), unreach]))] : []),
  ]);
  const gone = list(withdrawn, false);
  const body = Buffer.concat([u16(gone.length), gone, u16(attributes.length), attributes, list(announced, false)]);
  const message = Buffer.concat([Buffer.alloc(16, 255), u16(19 + body.length), Buffer.of(2), body]);
  return mrtRecord(16, pathId === undefined ? subtype : 9, Buffer.concat([session(peer), message]), at);
}

function session({ address, asn }: MadePeer, number = u32): Buffer {
  const bytes = addressBytes(address);
  return Buffer.concat([number(asn), number(65000), u16(0), u16(bytes.length === 4 ? 1 : 2), bytes, bytes]);
}

/** States by RFC 4271 §8.2.2: 6 is Established. */
export function madeStateChange(peer: MadePeer, from: number, to: number, at: number): Buffer {
  return mrtRecord(16, 5, Buffer.concat([session(peer), u16(from), u16(to)]), at);
}

/** The same in the form with 2-byte AS numbers. */
export function madeShortStateChange(peer: MadePeer, from: number, to: number, at: number): Buffer {
  return mrtRecord(16, 0, Buffer.concat([session(peer, u16), u16(from), u16(to)]), at);
}
