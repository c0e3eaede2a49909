/** RIB_IPV4_UNICAST and similar records (RFC 6396 §4.3.2, entries §4.3.4; with path identifiers RFC 8050 §4). */

import { readAttributes } from "../attribute/read-attributes.ts";
import type { PeerIndexTable } from "../peer-index-table.ts";
import type { RibBody, RibRoute } from "./mrt-record.ts";
import { readPrefix } from "./prefixes.ts";
import type { Reader } from "./reader.ts";
import { RecordFault } from "./record-fault.ts";

export function readRib(reader: Reader, version: 4 | 6, addPath: boolean, table: PeerIndexTable | null): RibBody {
  if (table === null) throw new RecordFault("no-peer-index", reader.at, "no valid peer index table comes before this record");
  const sequence = reader.u32();
  const prefix = readPrefix(reader, version);
  const count = reader.u16();
  const routes: RibRoute[] = [];
  const context = { asBytes: 4, addPath, rib: version } as const;
  for (let entry = 0; entry < count; entry++) {
    const at = reader.at;
    const index = reader.u16();
    const peer = table.peers[index];
    if (peer === undefined) {
      throw new RecordFault(
        "peer-index-out-of-range",
        at,
        `an entry names peer ${index}, but the peer index table has ${table.peers.length} peers`,
      );
    }
    const originatedAt = reader.u32();
    const pathId = addPath ? reader.u32() : null;
    routes.push({ peer, originatedAt, pathId, attributes: readAttributes(reader.sub(reader.u16()), context) });
  }
  reader.done("the record");
  return { kind: "rib", sequence, prefix, addPath, routes };
}
