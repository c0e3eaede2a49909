/** BGP4MP and BGP4MP_ET (RFC 6396 §4.4; ADD-PATH RFC 8050 §3): the session, and a message or a state change. */

import { describeRecord } from "../header.ts";
import { readMessage } from "./bgp-message.ts";
import type { RecordBody, Session } from "./mrt-record.ts";
import type { Reader } from "./reader.ts";

interface MessageForm {
  readonly asBytes: 2 | 4;
  /** Sent by the collector itself (RFC 6396 §4.4.5). */
  readonly sent: boolean;
  readonly addPath: boolean;
}

const messageForms: ReadonlyMap<number, MessageForm> = new Map([
  [1, { asBytes: 2, sent: false, addPath: false }],
  [4, { asBytes: 4, sent: false, addPath: false }],
  [6, { asBytes: 2, sent: true, addPath: false }],
  [7, { asBytes: 4, sent: true, addPath: false }],
  [8, { asBytes: 2, sent: false, addPath: true }],
  [9, { asBytes: 4, sent: false, addPath: true }],
  [10, { asBytes: 2, sent: true, addPath: true }],
  [11, { asBytes: 4, sent: true, addPath: true }],
]);
const stateChange = 0;
const stateChangeAs4 = 5;
/** A state change by Zebra without its addresses: two AS numbers of two bytes, two states. */
const bareStateChangeBytes = 8;
const bareAfi = 0xffff;
const bareMarkerBytes = 12;

export function readBgp4mp(reader: Reader, type: number, subtype: number): RecordBody {
  if (subtype === stateChange || subtype === stateChangeAs4) return readStateChange(reader, type, subtype);
  const form = messageForms.get(subtype);
  if (form === undefined) return { kind: "unread", what: describeRecord(type, subtype) };
  const { asBytes } = form;
  const peerAs = reader.asn(asBytes);
  const localAs = reader.asn(asBytes);
  const interfaceIndex = reader.u16();
  const afi = reader.u16();
  // Zebra leaves out the interface and the addresses of an OPEN: these bytes are already the marker.
  if (afi === bareAfi && interfaceIndex === bareAfi) {
    const session = { peer: { address: null, asn: peerAs }, local: { address: null, asn: localAs } };
    return readMessage(reader, { ...form, session }, bareMarkerBytes);
  }
  const session = readAddresses(reader, afi, peerAs, localAs);
  if (session === null) return { kind: "unread", what: `${describeRecord(type, subtype)} of address family ${afi}` };
  return readMessage(reader, { ...form, session });
}

/** RFC 6396 §4.4.1 and §4.4.4. */
function readStateChange(reader: Reader, type: number, subtype: number): RecordBody {
  const asBytes = subtype === stateChange ? 2 : 4;
  const bare = asBytes === 2 && reader.left === bareStateChangeBytes;
  const peerAs = reader.asn(asBytes);
  const localAs = reader.asn(asBytes);
  let session: Session | null = { peer: { address: null, asn: peerAs }, local: { address: null, asn: localAs } };
  if (!bare) {
    reader.u16();
    const afi = reader.u16();
    session = readAddresses(reader, afi, peerAs, localAs);
    if (session === null) return { kind: "unread", what: `${describeRecord(type, subtype)} of address family ${afi}` };
  }
  const states = { oldState: reader.u16(), newState: reader.u16() };
  reader.done("the record");
  return { kind: "state-change", session, ...states };
}

/** Null for a family that is not IP. */
function readAddresses(reader: Reader, afi: number, peerAs: number, localAs: number): Session | null {
  if (afi !== 1 && afi !== 2) return null;
  const version = afi === 1 ? 4 : 6;
  return { peer: { address: reader.address(version), asn: peerAs }, local: { address: reader.address(version), asn: localAs } };
}
