/** The old BGP type (RFC 6396 Appendix B.2): 2-byte AS numbers, IPv4 sessions, messages without their BGP header. */

import { describeRecord } from "../header.ts";
import type { RecordBody } from "./mrt-record.ts";
import type { Reader } from "./reader.ts";
import { readUpdate } from "./update.ts";

const update = 1;
const stateChange = 3;
const keepalive = 7;

export function readBgp(reader: Reader, type: number, subtype: number): RecordBody {
  if (subtype === stateChange) {
    const session = { peer: readSpeaker(reader), local: null };
    const states = { oldState: reader.u16(), newState: reader.u16() };
    reader.done("the record");
    return { kind: "state-change", session, ...states };
  }
  if (subtype !== update && subtype !== keepalive) return { kind: "unread", what: describeRecord(type, subtype) };
  const session = { peer: readSpeaker(reader), local: readSpeaker(reader) };
  if (subtype === keepalive) return { kind: "keepalive", session, sent: false };
  return readUpdate(reader, { session, sent: false, asBytes: 2, addPath: false });
}

function readSpeaker(reader: Reader) {
  const asn = reader.u16();
  return { address: reader.address(4), asn };
}
