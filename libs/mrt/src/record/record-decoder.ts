/** Decodes records one after the other (RFC 6396 §4): the type selects the reader, and a peer index table applies to the RIB records after it. */

import { bgp, bgp4mp, bgp4mpEt, describeRecord, headerBytes, subtype as rib, tableDump, tableDumpV2 } from "../header.ts";
import { type PeerIndexTable, readPeerIndexTable } from "../peer-index-table.ts";
import { readBgp } from "./bgp.ts";
import { readBgp4mp } from "./bgp4mp.ts";
import type { BadRecord, MrtRecord, RecordBody, RecordHeader } from "./mrt-record.ts";
import { Reader } from "./reader.ts";
import { RecordFault } from "./record-fault.ts";
import { readRib } from "./rib.ts";
import { readTableDump } from "./table-dump.ts";

export type RecordReading = MrtRecord | BadRecord;

export class RecordDecoder {
  #table: PeerIndexTable | null = null;

  /** Decodes the record whose header is at `start` and whose body ends at `end`. Never throws, whatever the bytes. */
  decode(bytes: Uint8Array, start: number, end: number, timestamp: number, type: number, subtype: number, offset: number): RecordReading {
    const reader = new Reader(bytes, start + headerBytes, end);
    let header: RecordHeader = { offset, timestamp, microseconds: null, type, subtype };
    try {
      // RFC 6396 §3: the microseconds count as part of the body.
      if (type === bgp4mpEt) header = { offset, timestamp, microseconds: reader.u32(), type, subtype };
      return { header, body: this.#body(reader, type, subtype) };
    } catch (error) {
      if (!(error instanceof RecordFault)) throw error;
      const fault = { code: error.code, detail: error.message, offset: offset + error.at - start };
      return { header, fault, asWithdrawn: error.asWithdrawn, bytes: bytes.slice(start, end) };
    }
  }

  #body(reader: Reader, type: number, subtype: number): RecordBody {
    switch (type) {
      case tableDumpV2:
        return this.#tableDumpV2(reader, subtype);
      case bgp4mp:
      case bgp4mpEt:
        return readBgp4mp(reader, type, subtype);
      case tableDump:
        if (subtype < 1 || subtype > 4) break;
        return readTableDump(reader, subtype % 2 === 1 ? 4 : 6, subtype > 2 ? 4 : 2);
      case bgp:
        return readBgp(reader, type, subtype);
    }
    return { kind: "unread", what: describeRecord(type, subtype) };
  }

  #tableDumpV2(reader: Reader, subtype: number): RecordBody {
    switch (subtype) {
      case rib.peerIndexTable:
        return this.#peerIndex(reader);
      case rib.ribIpv4Unicast:
        return readRib(reader, 4, false, this.#table);
      case rib.ribIpv6Unicast:
        return readRib(reader, 6, false, this.#table);
      case rib.ribIpv4UnicastAddPath:
        return readRib(reader, 4, true, this.#table);
      case rib.ribIpv6UnicastAddPath:
        return readRib(reader, 6, true, this.#table);
    }
    return { kind: "unread", what: describeRecord(tableDumpV2, subtype) };
  }

  /** RFC 6396 §4.3.1. After a damaged table no route has a known peer, so the earlier table is dropped. */
  #peerIndex(reader: Reader): RecordBody {
    this.#table = null;
    const table = readPeerIndexTable(reader.bytes, reader.at, reader.end);
    if (typeof table === "string") throw new RecordFault("overrun", reader.at, table);
    this.#table = table;
    return { kind: "peer-index", table };
  }
}
