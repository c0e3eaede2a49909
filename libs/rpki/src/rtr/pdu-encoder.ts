/** Encodes PDUs (RFC 8210 §5): those of a router, and for tests those of a cache. Fields marked zero are zero. */

import {
  endOfDataBytes,
  fixedLengths,
  headerBytes,
  type Pdu,
  type PrefixPdu,
  pduBytesMax,
  pduTypes,
  type RouterKeyPdu,
  type RtrErrorCode,
  type RtrVersion,
} from "./pdu.ts";

const plainTypes = {
  "serial-notify": pduTypes.serialNotify,
  "serial-query": pduTypes.serialQuery,
  "reset-query": pduTypes.resetQuery,
  "cache-response": pduTypes.cacheResponse,
  "cache-reset": pduTypes.cacheReset,
} as const;

/** Limit of a report's PDU, and of its text: together they stay below `pduBytesMax`. */
const reportedBytesMax = (pduBytesMax - headerBytes * 2) / 4;

/** One PDU in the form of the wire. The PDU and text of an Error Report are truncated if they are too long. */
export function encodePdu(pdu: Pdu): Buffer {
  switch (pdu.kind) {
    case "prefix":
      return encodePrefix(pdu);
    case "router-key":
      return encodeRouterKey(pdu);
    case "error-report":
      return encodeErrorReport(pdu.version, pdu.code, pdu.pdu, pdu.text);
    case "end-of-data": {
      const bytes = header(pdu.version, pduTypes.endOfData, pdu.sessionId, endOfDataBytes(pdu.version));
      bytes.writeUInt32BE(pdu.serial, 8);
      const { refresh, retry, expire } = pdu.intervals ?? { refresh: 0, retry: 0, expire: 0 };
      if (pdu.version > 0) for (const [at, seconds] of [refresh, retry, expire].entries()) bytes.writeUInt32BE(seconds, 12 + at * 4);
      return bytes;
    }
    default: {
      const type = plainTypes[pdu.kind];
      const bytes = header(pdu.version, type, "sessionId" in pdu ? pdu.sessionId : 0, fixedLengths.get(type) as number);
      if ("serial" in pdu) bytes.writeUInt32BE(pdu.serial, 8);
      return bytes;
    }
  }
}

export function serialQuery(version: RtrVersion, sessionId: number, serial: number): Buffer {
  return encodePdu({ kind: "serial-query", version, sessionId, serial });
}

export function resetQuery(version: RtrVersion): Buffer {
  return encodePdu({ kind: "reset-query", version });
}

export function errorReport(version: RtrVersion, code: RtrErrorCode, pdu: Uint8Array, text: string): Buffer {
  return encodeErrorReport(version, code, pdu, text);
}

function header(version: number, type: number, field: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  bytes[0] = version;
  bytes[1] = type;
  bytes.writeUInt16BE(field, 2);
  bytes.writeUInt32BE(length, 4);
  return bytes;
}

function encodePrefix({ version, announce, prefix, maxLength, asn }: PrefixPdu): Buffer {
  const words = prefix.version === 4 ? [prefix.w0] : [prefix.w0, prefix.w1, prefix.w2, prefix.w3];
  const type = prefix.version === 4 ? pduTypes.ipv4Prefix : pduTypes.ipv6Prefix;
  const bytes = header(version, type, 0, 16 + words.length * 4);
  bytes[8] = announce ? 1 : 0;
  bytes[9] = prefix.length;
  bytes[10] = maxLength;
  for (const [at, word] of [...words, asn].entries()) bytes.writeUInt32BE(word, 12 + at * 4);
  return bytes;
}

function encodeRouterKey({ version, announce, ski, asn, key }: RouterKeyPdu): Buffer {
  const bytes = header(version, pduTypes.routerKey, announce ? 0x0100 : 0, 32 + key.length);
  bytes.set(ski, 8);
  bytes.writeUInt32BE(asn, 28);
  bytes.set(key, 32);
  return bytes;
}

function encodeErrorReport(version: number, code: number, pdu: Uint8Array, text: string): Buffer {
  const reported = pdu.subarray(0, reportedBytesMax);
  const words = cutText(text, reportedBytesMax);
  const bytes = header(version, pduTypes.errorReport, code, 16 + reported.length + words.length);
  bytes.writeUInt32BE(reported.length, 8);
  bytes.set(reported, 12);
  bytes.writeUInt32BE(words.length, 12 + reported.length);
  bytes.set(words, 16 + reported.length);
  return bytes;
}

/** Truncates a text, without splitting a character. */
function cutText(text: string, bytesMax: number): Uint8Array {
  const bytes = new Uint8Array(bytesMax);
  return bytes.subarray(0, new TextEncoder().encodeInto(text, bytes).written);
}
