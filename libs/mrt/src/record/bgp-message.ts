/** BGP messages (RFC 4271 §4): header, OPEN, NOTIFICATION and messages without a useful body; UPDATE is in a file of its own. */

import type { RecordBody, Session } from "./mrt-record.ts";
import type { Reader } from "./reader.ts";
import { RecordFault } from "./record-fault.ts";
import { readUpdate } from "./update.ts";

export interface MessageContext {
  readonly session: Session;
  readonly sent: boolean;
  readonly asBytes: 2 | 4;
  readonly addPath: boolean;
}

const update = 2;
const markerBytes = 16;
/** Marker, length u16, type u8. */
const headerBytes = 19;

/**
 * Reads one message, which must fill the reader. @param markerLeft  length of the rest of the marker before the length field.
 *
 * Old collectors (Zebra, until about 2003) truncated messages of more than 4,096 bytes including their header. The remaining prefixes of a truncated
 * UPDATE are read, and the truncation is noted; any other truncated message is refused.
 */
export function readMessage(reader: Reader, context: MessageContext, markerLeft = markerBytes): RecordBody {
  const start = reader.at;
  for (let byte = 0; byte < markerLeft; byte++) {
    if (reader.u8() !== 0xff) throw new RecordFault("bad-value", reader.at - 1, "the marker of the BGP message is not all ones");
  }
  const length = reader.u16();
  const type = reader.u8();
  if (length < headerBytes)
    throw new RecordFault("bad-length", start, `the BGP message claims a length of ${length} bytes, less than its header`);
  const isCut = type === update && length - headerBytes > reader.left;
  const body = reader.sub(isCut ? reader.left : length - headerBytes);
  reader.done("the record");
  const { session, sent } = context;
  switch (type) {
    case 1:
      return { kind: "open", session, sent, ...readOpen(body) };
    case update:
      return readUpdate(body, context, isCut);
    case 3:
      return { kind: "notification", session, sent, code: body.u8(), subcode: body.u8(), data: body.hex() };
    case 4:
      body.done("KEEPALIVE");
      return { kind: "keepalive", session, sent };
    case 5: // RFC 2918.
    case 128: // Cisco's type before RFC 2918.
      return { kind: "route-refresh", session, sent };
    default:
      return { kind: "unread", what: `BGP message of type ${type}` };
  }
}

/** RFC 4271 §4.2. The AS number always has two bytes; a 4-byte one is in a capability (RFC 6793 §3). */
function readOpen(body: Reader) {
  const open = { version: body.u8(), asn: body.u16(), holdTime: body.u16(), bgpId: body.u32(), parameters: "" };
  const parameters = body.sub(body.u8());
  // RFC 9072: if parameters are longer than 255 bytes, their length comes after a mark; both are kept with them.
  open.parameters = parameters.hex() + body.hex();
  return open;
}
