/** Writes a MaxMind DB (format 2.0) with AS numbers of given prefixes, for the other side of a benchmark. */

import type { Prefix } from "@netfacts/address";

export interface MmdbEntry {
  readonly prefix: Prefix;
  readonly asn: number;
  readonly organisation: string;
}

const noNode = -1;
/** Two records of 32 bits per node. */
const nodeBytes = 8;
const marker = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");

/**
 * IPv4 prefixes are in ::/96 of an IPv6 tree, as in the published files. Entries must ascend by (address, length), so that a more specific
 * prefix is written over the less specific one that contains it.
 */
export function writeMmdb(entries: Iterable<MmdbEntry>): Buffer {
  let children = new Int32Array(1 << 16).fill(noNode);
  let nodes = 1;
  /** Data offset of each node plus one; 0: none. */
  let data = new Uint32Array(1 << 16);
  const child = (node: number, bit: number): number => {
    const at = node * 2 + bit;
    if (children[at] === noNode) {
      if ((nodes + 1) * 2 > children.length) {
        const larger = new Int32Array(children.length * 2).fill(noNode);
        larger.set(children);
        children = larger;
        const largerData = new Uint32Array(data.length * 2);
        largerData.set(data);
        data = largerData;
      }
      children[at] = nodes++;
    }
    return children[at] as number;
  };

  const chunks: Buffer[] = [];
  let dataBytes = 0;
  const offsets = new Map<string, number>();
  const dataOf = (asn: number, organisation: string): number => {
    const key = `${asn} ${organisation}`;
    let offset = offsets.get(key);
    if (offset === undefined) {
      const chunk = Buffer.concat([
        Buffer.from([0xe0 | 2]),
        text("autonomous_system_number"),
        uint32(asn),
        text("autonomous_system_organization"),
        text(organisation),
      ]);
      offset = dataBytes;
      offsets.set(key, offset);
      chunks.push(chunk);
      dataBytes += chunk.length;
    }
    return offset;
  };

  for (const { prefix, asn, organisation } of entries) {
    let node = 0;
    const skip = prefix.version === 4 ? 96 : 0;
    for (let depth = 0; depth < skip; depth++) node = child(node, 0);
    const words = [prefix.w0, prefix.w1, prefix.w2, prefix.w3];
    for (let depth = 0; depth < prefix.length; depth++) {
      const bit = ((words[depth >> 5] as number) >>> (31 - (depth & 31))) & 1;
      node = child(node, bit);
    }
    data[node] = dataOf(asn, organisation) + 1;
  }

  // A prefix with more specifics is an inner node: the empty records below it get its value.
  const tree = Buffer.alloc(nodes * nodeBytes);
  const stack: [node: number, inherited: number][] = [[0, 0]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [node, inherited] = next;
    const value = data[node] || inherited;
    for (const bit of [0, 1]) {
      const below = children[node * 2 + bit] as number;
      const leaf = below === noNode || (children[below * 2] === noNode && children[below * 2 + 1] === noNode);
      const found = below === noNode ? value : data[below] || value;
      tree.writeUInt32BE(leaf ? (found === 0 ? nodes : nodes + 16 + found - 1) : below, node * nodeBytes + bit * 4);
      if (!leaf) stack.push([below, value]);
    }
  }
  return Buffer.concat([tree, Buffer.alloc(16), ...chunks, marker, metadata(nodes)]);
}

function metadata(nodes: number): Buffer {
  const members: [string, Buffer][] = [
    ["binary_format_major_version", uint16(2)],
    ["binary_format_minor_version", uint16(0)],
    ["build_epoch", Buffer.from([0x04, 0x02, 0x67, 0x00, 0x00, 0x00])],
    ["database_type", text("GeoLite2-ASN")],
    ["description", Buffer.from([0xe0])],
    ["ip_version", uint16(6)],
    ["languages", Buffer.from([0x00, 0x04])],
    ["node_count", uint32(nodes)],
    ["record_size", uint16(32)],
  ];
  return Buffer.concat([Buffer.from([0xe0 | members.length]), ...members.flatMap(([name, value]) => [text(name), value])]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, "utf8").subarray(0, 284);
  return Buffer.concat([bytes.length < 29 ? Buffer.from([0x40 | bytes.length]) : Buffer.from([0x40 | 29, bytes.length - 29]), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes[0] = 0xc0 | 4;
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

function uint16(value: number): Buffer {
  return Buffer.from([0xa0 | 2, value >> 8, value & 0xff]);
}
