/** A replayed table as text: the bytes that are kept for each route during the replay, and the resulting lines. */

import { formatAddress, formatPrefix, type Prefix } from "@netfacts/address";
import type { EncodeAttributes } from "@netfacts/ingest/app";
import { attributesJson, LineBuffer, type Peer, type RibSink, writeRouteColumns } from "@netfacts/mrt";

/** Value of the first kept byte if the route has a path identifier. */
const withPathId = 1;

/** Lines of `bgpdump -m`. The part after the prefix is written when the route is read, once for all routes with the same part. */
export class LineTable implements RibSink {
  readonly out = new LineBuffer();
  readonly #scratch = new LineBuffer();
  #peers: readonly Peer[] = [];
  #prefix: Prefix = { version: 4, w0: 0, w1: 0, w2: 0, w3: 0, length: 0 };
  #timestamp = 0;

  readonly encode: EncodeAttributes = (attributes, addPath) => {
    this.#scratch.char(addPath ? withPathId : 0);
    writeRouteColumns(attributes, this.#scratch);
    return this.#scratch.take();
  };

  peerIndex(peers: Peer[]): void {
    this.#peers = peers;
  }

  prefix(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number, timestamp: number): void {
    this.#prefix = { version, w0, w1, w2, w3, length };
    this.#timestamp = timestamp;
  }

  route(peerIndex: number, _at: number, kept: Uint8Array, start: number, end: number, pathId: number): void {
    const { out } = this;
    const { address, asn } = this.#peers[peerIndex] as Peer;
    const addPath = kept[start] === withPathId;
    out.text(`${addPath ? "TABLE_DUMP2_AP" : "TABLE_DUMP2"}|${this.#timestamp}|B|`);
    out.address(address);
    out.text(`|${asn}|`);
    out.address(this.#prefix);
    out.text(`/${this.#prefix.length}|${addPath ? `${pathId}|` : ""}`);
    out.bytes(kept.subarray(start + 1, end));
  }

  end(): void {}
}

/** One object per prefix, like `netfacts mrt cat --json` for a RIB, but without the offset in a file, because there is none. */
export class JsonTable implements RibSink {
  readonly out = new LineBuffer();
  #peers: readonly Peer[] = [];
  #prefix: Prefix | null = null;
  #timestamp = 0;
  #sequence = 0;
  #addPath = false;
  #routes: string[] = [];

  readonly encode: EncodeAttributes = (attributes, addPath) => {
    const text = Buffer.from(JSON.stringify(attributesJson(attributes)));
    return Buffer.concat([Buffer.of(addPath ? withPathId : 0), text]);
  };

  peerIndex(peers: Peer[]): void {
    this.#peers = peers;
  }

  prefix(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number, timestamp: number): void {
    this.end();
    this.#prefix = { version, w0, w1, w2, w3, length };
    this.#timestamp = timestamp;
  }

  route(peerIndex: number, at: number, kept: Uint8Array, start: number, end: number, pathId: number): void {
    const { address, asn } = this.#peers[peerIndex] as Peer;
    const addPath = kept[start] === withPathId;
    this.#addPath ||= addPath;
    const head = { peer: { address: formatAddress(address), asn }, originated_at: at, ...(addPath && { path_id: pathId }) };
    const attributes = Buffer.from(kept.buffer, kept.byteOffset + start + 1, end - start - 1).toString("utf8");
    this.#routes.push(`${JSON.stringify(head).slice(0, -1)},"attributes":${attributes}}`);
  }

  /** Writes the current prefix. */
  end(): void {
    if (this.#prefix === null) return;
    const head = {
      timestamp: this.#timestamp,
      type: "TABLE_DUMP_V2",
      subtype: `RIB_IPV${this.#prefix.version}_UNICAST${this.#addPath ? "_ADDPATH" : ""}`,
      kind: "rib",
      sequence: this.#sequence++,
      prefix: formatPrefix(this.#prefix),
    };
    this.out.bytes(Buffer.from(`${JSON.stringify(head).slice(0, -1)},"routes":[${this.#routes.join()}]}\n`));
    this.#prefix = null;
    this.#routes = [];
    this.#addPath = false;
  }
}
