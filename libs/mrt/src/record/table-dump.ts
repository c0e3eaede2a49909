/** TABLE_DUMP (RFC 6396 §4.2): one route per record. Subtypes 3 and 4, with 4-byte AS numbers, are not in the RFC; bgpdump reads them. */

import { makePrefix } from "@netfacts/address";
import { readAttributes } from "../attribute/read-attributes.ts";
import type { RibBody } from "./mrt-record.ts";
import type { Reader } from "./reader.ts";
import { RecordFault } from "./record-fault.ts";

export function readTableDump(reader: Reader, version: 4 | 6, asBytes: 2 | 4): RibBody {
  reader.u16(); // The view: 0 except in route servers.
  const sequence = reader.u16();
  const address = reader.address(version);
  const length = reader.u8();
  if (length > (version === 4 ? 32 : 128)) {
    throw new RecordFault("bad-prefix-length", reader.at - 1, `an IPv${version} prefix has ${length} bits`);
  }
  reader.u8(); // The status, which is always 1.
  const originatedAt = reader.u32();
  const peer = { address: reader.address(version), asn: reader.asn(asBytes) };
  const attributes = readAttributes(reader.sub(reader.u16()), { asBytes, addPath: false, rib: version });
  reader.done("the record");
  const routes = [{ peer, originatedAt, pathId: null, attributes }];
  return {
    kind: "rib",
    sequence,
    prefix: makePrefix(version, address.w0, address.w1, address.w2, address.w3, length),
    addPath: false,
    routes,
  };
}
