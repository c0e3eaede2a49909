/**
 * Scan of a RIB: prefixes, peers and AS paths as integers over the buffers of TABLE_DUMP_V2 (RFC 6396 §4.3, ADD-PATH RFC 8050). TABLE_DUMP (§4.2) is
 * decoded record by record: only old and small files have it.
 */

import type { Prefix } from "@netfacts/address";
import { encodePath, hasAsZero, isAsZeroAlone } from "./as-path.ts";
import { readU32 } from "./bytes.ts";
import { describeFault, fault } from "./fault.ts";
import { describeRecord, subtype, tableDump, tableDumpV2 } from "./header.ts";
import { MrtError } from "./mrt-error.ts";
import { Nlri } from "./nlri.ts";
import { type Peer, readPeerIndexTable } from "./peer-index-table.ts";
import type { RibBody } from "./record/mrt-record.ts";
import { Reader } from "./record/reader.ts";
import { RecordFault } from "./record/record-fault.ts";
import { readTableDump } from "./record/table-dump.ts";
import { RecordStream, recordBytesMaxDefault } from "./record-stream.ts";
import { RibEntries } from "./rib-entry.ts";

/**
 * A dump takes minutes. A record is damaged if its time differs by more than this from its peer index table, or from the first record of TABLE_DUMP;
 * it would give the whole table a wrong time.
 */
const dumpSecondsMax = 86_400;
/** A dump may have a peer index table for each of its parts, which are written one after the other within this time. */
const partsSecondsMax = 600;
/** Number of examples that are kept per reason. */
const examplesMaxDefault = 5;

export interface ScanOptions {
  /** Name of the input in messages. */
  readonly name?: string;
  readonly recordBytesMax?: number;
  readonly examplesMax?: number;
}

/**
 * Receives the scan in file order. `prefix` is followed by its routes. Words are unsigned; an IPv4 address uses `w0`. Paths are well formed; `path`
 * is valid during the call only, so the sink must copy what it keeps.
 */
export interface RibSink {
  /**
   * A later table replaces the earlier one for the routes after it. TABLE_DUMP has no table: for each new peer, this is called with all peers so far,
   * and with 0 and "" for collector and view.
   */
  peerIndex(peers: Peer[], collectorId: number, viewName: string, timestamp: number): void;
  prefix(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number, timestamp: number): void;
  /** @param pathId  of ADD-PATH (RFC 7911); otherwise 0. */
  route(peerIndex: number, originatedAt: number, path: Uint8Array, pathStart: number, pathEnd: number, pathId: number): void;
}

/** Number of records or routes with one reason. */
export interface Skipped {
  readonly reason: string;
  /** True when the record or route violates its format; false when this scan does not read its kind. */
  readonly bad: boolean;
  count: number;
  /** The first ones, each with the position of its record's header in the decompressed stream. */
  readonly examples: { readonly offset: number; readonly detail: string }[];
}

export interface RibReport {
  /** Size of the decompressed input. */
  bytes: number;
  records: number;
  /** RIB records with at least one route; a file that lists a prefix twice counts it twice. */
  prefixes: { ipv4: number; ipv6: number };
  routes: { ipv4: number; ipv6: number };
  /** Unix seconds: smallest and largest time of the TABLE_DUMP_V2 records that were read. */
  firstTimestamp: number;
  lastTimestamp: number;
  /** Skipped records. */
  skipped: Skipped[];
  /** Number of records skipped because they violate the format (the sum of `skipped` where `bad`). */
  bad: number;
  /** Routes with malformed attributes; the other routes of their records were read. */
  routesLeftOut: Skipped[];
  /** The sum of `routesLeftOut`. */
  badRoutes: number;
  /** Number of prefixes with bits set past their length; these bits were cleared. */
  masked: number;
}

/** The peers of TABLE_DUMP, in the order of their first records, and the prefix of the last record. */
class OldTable {
  readonly peers: Peer[] = [];
  readonly #numbers = new Map<string, number>();
  /** Time of its first record; null: none was read. */
  timestamp: number | null = null;
  /** Whether the sink has these peers. */
  isTold = false;
  #prefix = "";

  /** Call when routes of the other type come in between: the peers must be passed to the sink again. */
  interrupt(): void {
    this.isTold = false;
    this.#prefix = "";
  }

  indexOf({ address, asn }: Pick<Peer, "address" | "asn">): number {
    const { version, w0, w1, w2, w3 } = address;
    const key = `${version} ${w0} ${w1} ${w2} ${w3} ${asn}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.peers.push({ address, asn, bgpId: 0 }) - 1;
      this.#numbers.set(key, number);
      this.isTold = false;
    }
    return number;
  }

  /** True if the prefix differs from that of the previous record. */
  begins({ version, w0, w1, w2, w3, length }: Prefix): boolean {
    const key = `${version} ${w0} ${w1} ${w2} ${w3} ${length}`;
    const begins = key !== this.#prefix;
    this.#prefix = key;
    return begins;
  }
}

class RibScan {
  readonly #sink: RibSink;
  readonly #name: string;
  readonly #examplesMax: number;
  readonly #nlri = new Nlri();
  readonly #entries = new RibEntries();
  readonly #skipped = new Map<string, Skipped>();
  readonly #routesLeftOut = new Map<string, Skipped>();
  readonly #oldTable = new OldTable();
  #peers: readonly Peer[] | null = null;
  /** Time of the peer index table. */
  #tableTimestamp = 0;
  /** Time of the first peer index table of each collector and view. */
  readonly #tables = new Map<string, number>();
  /** Passes the peer index table to the sink again after routes of TABLE_DUMP came in between. */
  #tellAgain: (() => void) | null = null;
  #records = 0;
  #prefixes4 = 0;
  #prefixes6 = 0;
  #routes4 = 0;
  #routes6 = 0;
  #masked = 0;
  #firstTimestamp = 0xffffffff;
  #lastTimestamp = 0;

  constructor(sink: RibSink, name: string, examplesMax: number) {
    this.#sink = sink;
    this.#name = name;
    this.#examplesMax = examplesMax;
  }

  take(bytes: Uint8Array, start: number, end: number, timestamp: number, type: number, subtypeNumber: number, offset: number): void {
    this.#records++;
    if (type === tableDumpV2) {
      switch (subtypeNumber) {
        case subtype.peerIndexTable:
          this.#peerIndexTable(bytes, start, end, timestamp, offset);
          return;
        case subtype.ribIpv4Unicast:
          this.#rib(bytes, start, end, 4, false, timestamp, offset);
          return;
        case subtype.ribIpv4UnicastAddPath:
          this.#rib(bytes, start, end, 4, true, timestamp, offset);
          return;
        case subtype.ribIpv6Unicast:
          this.#rib(bytes, start, end, 6, false, timestamp, offset);
          return;
        case subtype.ribIpv6UnicastAddPath:
          this.#rib(bytes, start, end, 6, true, timestamp, offset);
          return;
      }
    }
    if (type === tableDump && subtypeNumber >= 1 && subtypeNumber <= 4) {
      this.#tableDump(new Reader(bytes, start, end), timestamp, subtypeNumber, offset);
      return;
    }
    this.#skip("other-record-type", false, describeRecord(type, subtypeNumber), offset);
  }

  report(bytes: number): RibReport {
    const skipped = [...this.#skipped.values()];
    const routesLeftOut = [...this.#routesLeftOut.values()];
    if (this.#peers === null && this.#oldTable.peers.length === 0) {
      const seen = skipped[0]?.examples[0]?.detail;
      const detail = seen === undefined ? "the input is empty" : `no peer index table among ${this.#records} records; the first is ${seen}`;
      throw new MrtError("not-a-rib", this.#name, 0, detail);
    }
    return {
      bytes,
      records: this.#records,
      prefixes: { ipv4: this.#prefixes4, ipv6: this.#prefixes6 },
      routes: { ipv4: this.#routes4, ipv6: this.#routes6 },
      firstTimestamp: this.#firstTimestamp,
      lastTimestamp: this.#lastTimestamp,
      skipped,
      bad: skipped.reduce((sum, { bad, count }) => (bad ? sum + count : sum), 0),
      routesLeftOut,
      badRoutes: routesLeftOut.reduce((sum, { count }) => sum + count, 0),
      masked: this.#masked,
    };
  }

  #peerIndexTable(bytes: Uint8Array, start: number, end: number, timestamp: number, offset: number): void {
    const table = readPeerIndexTable(bytes, start, end);
    if (typeof table === "string") throw new MrtError("bad-peer-index", this.#name, offset, table);
    const { collectorId, viewName } = table;
    const key = `${collectorId} ${viewName}`;
    const first = this.#tables.get(key) ?? timestamp;
    this.#tables.set(key, first);
    // 0 does not identify a collector.
    if (collectorId !== 0 && Math.abs(timestamp - first) > partsSecondsMax)
      throw new MrtError(
        "two-dumps",
        this.#name,
        offset,
        `has tables of two times, ${timeText(first)} and ${timeText(timestamp)}; keep only the later one`,
      );
    this.#peers = table.peers;
    this.#tableTimestamp = timestamp;
    this.#seen(timestamp);
    this.#sink.peerIndex(table.peers, collectorId, viewName, timestamp);
    this.#tellAgain = () => this.#sink.peerIndex(table.peers, collectorId, viewName, timestamp);
    this.#oldTable.interrupt();
  }

  /** Records of one prefix are consecutive, so they count as one prefix. */
  #tableDump(reader: Reader, timestamp: number, subtypeNumber: number, offset: number): void {
    let body: RibBody;
    try {
      body = readTableDump(reader, subtypeNumber % 2 === 1 ? 4 : 6, subtypeNumber > 2 ? 4 : 2);
    } catch (error) {
      if (!(error instanceof RecordFault)) throw error;
      this.#skip(error.code, true, error.message, offset);
      return;
    }
    const { prefix, routes } = body;
    const table = this.#oldTable;
    table.timestamp ??= timestamp;
    if (Math.abs(timestamp - table.timestamp) > dumpSecondsMax) {
      this.#skip("bad-time", true, "the time of the record is more than a day from that of the first one", offset);
      return;
    }
    this.#seen(timestamp);
    for (const { peer, originatedAt, attributes } of routes) {
      const path = encodePath(attributes.asPath ?? []);
      const isOwn = peer.asn === 0 && isAsZeroAlone(path, 0, path.length);
      if (!isOwn && hasAsZero(path, 0, path.length)) {
        const { reason, detail } = describeFault(fault.asZero);
        this.#count(this.#routesLeftOut, reason, true, 1, detail, offset);
        continue;
      }
      const index = table.indexOf(peer);
      const sink = this.#sink;
      if (!table.isTold) sink.peerIndex([...table.peers], 0, "", timestamp);
      if (table.begins(prefix)) {
        if (prefix.version === 4) this.#prefixes4++;
        else this.#prefixes6++;
        sink.prefix(prefix.version, prefix.w0, prefix.w1, prefix.w2, prefix.w3, prefix.length, timestamp);
      }
      table.isTold = true;
      if (prefix.version === 4) this.#routes4++;
      else this.#routes6++;
      sink.route(index, originatedAt, path, 0, path.length, 0);
    }
  }

  /** RIB_IPV4_UNICAST and similar records (RFC 6396 §4.3.2): sequence number u32, prefix, entries. */
  #rib(bytes: Uint8Array, start: number, end: number, version: 4 | 6, addPath: boolean, timestamp: number, offset: number): void {
    const peers = this.#peers;
    if (peers === null) throw new MrtError("no-peer-index", this.#name, offset, "a RIB record comes before any peer index table");
    const nlri = this.#nlri;
    const entries = this.#entries;
    const isOfTable = Math.abs(timestamp - this.#tableTimestamp) <= dumpSecondsMax;
    const at = isOfTable ? nlri.read(bytes, start + 4, end, version === 4 ? 32 : 128) : fault.time;
    const count = at < 0 ? at : entries.read(bytes, at, end, addPath, peers);
    if (count < 0) {
      const { reason, detail } = describeFault(count);
      this.#skip(reason, true, detail + sequenceText(bytes, start, end), offset);
      return;
    }
    this.#seen(timestamp);
    if (entries.leftOut > 0) {
      const { reason, detail } = describeFault(entries.leftOutFault);
      this.#count(this.#routesLeftOut, reason, true, entries.leftOut, detail + sequenceText(bytes, start, end), offset);
    }
    if (count === 0) return;
    if (nlri.masked) this.#masked++;
    if (version === 4) {
      this.#prefixes4++;
      this.#routes4 += count;
    } else {
      this.#prefixes6++;
      this.#routes6 += count;
    }
    if (this.#oldTable.isTold) {
      this.#tellAgain?.();
      this.#oldTable.interrupt();
    }
    const sink = this.#sink;
    sink.prefix(version, nlri.w0, nlri.w1, nlri.w2, nlri.w3, nlri.length, timestamp);
    const { peerIndex, originatedAt, pathStart, pathEnd, pathId } = entries;
    // Every index is below the count that was just read into these columns.
    for (let i = 0; i < count; i++) sink.route(peerIndex[i]!, originatedAt[i]!, bytes, pathStart[i]!, pathEnd[i]!, pathId[i]!);
  }

  #seen(timestamp: number): void {
    if (timestamp < this.#firstTimestamp) this.#firstTimestamp = timestamp;
    if (timestamp > this.#lastTimestamp) this.#lastTimestamp = timestamp;
  }

  #skip(reason: string, bad: boolean, detail: string, offset: number): void {
    this.#count(this.#skipped, reason, bad, 1, detail, offset);
  }

  #count(counts: Map<string, Skipped>, reason: string, bad: boolean, count: number, detail: string, offset: number): void {
    let entry = counts.get(reason);
    if (entry === undefined) {
      entry = { reason, bad, count: 0, examples: [] };
      counts.set(reason, entry);
    }
    entry.count += count;
    if (entry.examples.length < this.#examplesMax) entry.examples.push({ offset, detail });
  }
}

function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().replace(".000", "");
}

function sequenceText(bytes: Uint8Array, start: number, end: number): string {
  return start + 4 <= end ? `, sequence number ${readU32(bytes, start)}` : "";
}

/**
 * Reads a whole RIB from decompressed chunks (best of at least 1 MiB) and passes its routes to the sink.
 *
 * A record that violates its format is skipped as a whole, by its length, and counted; the sink never gets a part of one. A route with malformed
 * attributes is left out and counted; the other routes of its record are passed on.
 *
 * @throws MrtError when the file as a whole cannot be trusted; everything that the sink has received is then invalid. Errors of `chunks` pass
 * through.
 *
 * Cost: one pass, no allocation per record or route. Memory: one chunk, one record that spans chunks (≤ `recordBytesMax`) and 1 MiB.
 */
export async function scanRib(chunks: AsyncIterable<Uint8Array>, sink: RibSink, options: ScanOptions = {}): Promise<RibReport> {
  const name = options.name ?? "MRT input";
  const scan = new RibScan(sink, name, options.examplesMax ?? examplesMaxDefault);
  const records = new RecordStream(name, options.recordBytesMax ?? recordBytesMaxDefault, scan.take.bind(scan));
  for await (const chunk of chunks) records.push(chunk);
  records.end();
  return scan.report(records.offset);
}
