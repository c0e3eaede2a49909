/**
 * Writes MMDB files (MaxMind DB file format 2.0): a binary trie of IPv6 addresses. IPv4 is at `::/96`, and also at `::ffff:0:0/96`, for
 * readers that look up mapped addresses.
 */

import { type Address, rangeToPrefixes } from "@netfacts/address";
import { MmdbData, type MmdbMap } from "./mmdb-data.ts";

/** A side of a node. Above 0: another node. 0: none. Below 0: `-1 - n`, where n is the offset of a record in the data. */
type Side = number;

const metadataMark = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
/** Bytes between the trie and the data. */
const gapBytes = 16;
const ipv4Bits = 96;
/** Sizes of a side in bits. The smallest that can address all nodes and all bytes of the data is used. */
const recordSizes = [24, 28, 32] as const;
type RecordSize = (typeof recordSizes)[number];

export interface MmdbAbout {
  readonly databaseType: string;
  /** Description in English. */
  readonly description: string;
  /** Time of the data, in seconds since 1970. */
  readonly builtAt: number;
}

export class MmdbWriter {
  readonly #data = new MmdbData();
  /** Two sides for each node, one after the other. The first node is the root. */
  #sides = new Int32Array(1 << 16);
  #nodes = 1;

  /**
   * @param first  start of a range that does not overlap an earlier one.
   * @throws RangeError if the file would be longer than the format allows.
   */
  add(first: Address, last: Address, record: MmdbMap): void {
    const side: Side = -1 - this.#data.record(record);
    for (const prefix of rangeToPrefixes(first, last)) this.#set(prefix, prefix.length, side);
  }

  /** The file, in pieces. Call once. */
  *file({ databaseType, description, builtAt }: MmdbAbout): Generator<Buffer> {
    this.#alias();
    const recordSize = recordSizes.find((bits) => this.#nodes + gapBytes + this.#data.length < 2 ** bits);
    if (recordSize === undefined) throw new RangeError("the database would be longer than an MMDB file can be");
    yield* this.#tree(recordSize);
    yield Buffer.alloc(gapBytes);
    yield this.#data.bytes;
    yield metadataMark;
    yield metadata({ databaseType, description, builtAt, nodes: this.#nodes, recordSize });
  }

  #set(address: Address, length: number, side: Side): void {
    const bits = address.version === 4 ? ipv4Bits + length : length;
    let node = 0;
    for (let bit = 0; bit < bits - 1; bit++) node = this.#child(node, bitOf(address, bit));
    this.#sides[2 * node + bitOf(address, bits - 1)] = side;
  }

  #child(node: number, bit: 0 | 1): number {
    const known = this.#sides[2 * node + bit] as Side;
    if (known > 0) return known;
    const child = this.#nodes++;
    if (2 * child + 2 > this.#sides.length) {
      const larger = new Int32Array(2 * this.#sides.length);
      larger.set(this.#sides);
      this.#sides = larger;
    }
    this.#sides[2 * node + bit] = child;
    return child;
  }

  /** Makes `::ffff:0:0/96` refer to the IPv4 part. */
  #alias(): void {
    let ipv4 = 0;
    for (let bit = 0; bit < ipv4Bits && ipv4 >= 0; bit++) {
      const next = this.#sides[2 * ipv4] as Side;
      if (next <= 0) return;
      ipv4 = next;
    }
    this.#set({ version: 6, w0: 0, w1: 0, w2: 0xffff, w3: 0 }, ipv4Bits, ipv4);
  }

  *#tree(recordSize: RecordSize): Generator<Buffer> {
    const nodeBytes = recordSize / 4;
    const pieceNodes = 1 << 16;
    for (let from = 0; from < this.#nodes; from += pieceNodes) {
      const count = Math.min(pieceNodes, this.#nodes - from);
      const piece = Buffer.alloc(count * nodeBytes);
      for (let at = 0; at < count; at++)
        writeNode(piece, at * nodeBytes, recordSize, this.#written(2 * (from + at)), this.#written(2 * (from + at) + 1));
      yield piece;
    }
  }

  #written(at: number): number {
    const side = this.#sides[at] as Side;
    if (side > 0) return side;
    return side === 0 ? this.#nodes : this.#nodes + gapBytes + (-1 - side);
  }
}

/** Writes both sides of a node, which must be below 2 to the power of the record size. */
export function writeNode(to: Buffer, start: number, recordSize: RecordSize, left: number, right: number): void {
  if (recordSize === 32) {
    to.writeUInt32BE(left, start);
    to.writeUInt32BE(right, start + 4);
    return;
  }
  to.writeUIntBE(left % 2 ** 24, start, 3);
  to.writeUIntBE(right % 2 ** 24, start + recordSize / 4 - 3, 3);
  // The upper four bits of both sides share the middle byte.
  if (recordSize === 28) to[start + 3] = ((left >>> 24) << 4) | (right >>> 24);
}

function bitOf({ version, w0, w1, w2, w3 }: Address, bit: number): 0 | 1 {
  if (version === 4) return bit < ipv4Bits ? 0 : (((w0 >>> (127 - bit)) & 1) as 0 | 1);
  const word = bit < 32 ? w0 : bit < 64 ? w1 : bit < 96 ? w2 : w3;
  return ((word >>> (31 - (bit % 32))) & 1) as 0 | 1;
}

function metadata(about: MmdbAbout & { readonly nodes: number; readonly recordSize: number }): Buffer {
  const data = new MmdbData();
  data.mapOf(9);
  const uint16 = (name: string, value: number) => {
    data.string(name);
    data.uint16(value);
  };
  uint16("binary_format_major_version", 2);
  uint16("binary_format_minor_version", 0);
  data.string("build_epoch");
  data.uint64(about.builtAt);
  data.string("database_type");
  data.string(about.databaseType);
  data.string("description");
  data.plain({ en: about.description });
  uint16("ip_version", 6);
  data.string("languages");
  data.arrayOf(1);
  data.string("en");
  data.string("node_count");
  data.uint32(about.nodes);
  uint16("record_size", about.recordSize);
  return data.bytes;
}
