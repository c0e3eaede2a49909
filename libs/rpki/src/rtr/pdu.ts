/** PDUs of the RPKI to Router protocol, versions 0 (RFC 6810) and 1 (RFC 8210): their types, errors and forms. */

import type { Prefix } from "@netfacts/address";

/** Supported versions. */
export type RtrVersion = 0 | 1;
export const rtrVersionMax: RtrVersion = 1;

/** RFC 8210 §5. */
export const pduTypes = {
  serialNotify: 0,
  serialQuery: 1,
  resetQuery: 2,
  cacheResponse: 3,
  ipv4Prefix: 4,
  ipv6Prefix: 6,
  endOfData: 7,
  cacheReset: 8,
  routerKey: 9,
  errorReport: 10,
} as const;

/** Codes of Error Reports (RFC 8210 §12). All except `noDataAvailable` end the session. */
export const rtrErrors = {
  corruptData: 0,
  internalError: 1,
  noDataAvailable: 2,
  invalidRequest: 3,
  unsupportedVersion: 4,
  unsupportedPduType: 5,
  withdrawalOfUnknown: 6,
  duplicateAnnouncement: 7,
  unexpectedVersion: 8,
} as const;
export type RtrErrorCode = (typeof rtrErrors)[keyof typeof rtrErrors];

const errorNames: readonly string[] = [
  "Corrupt Data",
  "Internal Error",
  "No Data Available",
  "Invalid Request",
  "Unsupported Protocol Version",
  "Unsupported PDU Type",
  "Withdrawal of Unknown Record",
  "Duplicate Announcement Received",
  "Unexpected Protocol Version",
];

/** The name of a code in RFC 8210 §12; codes of later versions by their number. */
export function rtrErrorName(code: number): string {
  return errorNames[code] ?? `error code ${code}`;
}

/** Seconds, in the form of a cache (RFC 8210 §6). */
export interface RtrIntervals {
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
}

export interface SerialPdu {
  readonly kind: "serial-notify" | "serial-query";
  readonly version: number;
  readonly sessionId: number;
  readonly serial: number;
}

export interface PlainPdu {
  readonly kind: "reset-query" | "cache-reset";
  readonly version: number;
}

export interface CacheResponsePdu {
  readonly kind: "cache-response";
  readonly version: number;
  readonly sessionId: number;
}

export interface PrefixPdu {
  readonly kind: "prefix";
  readonly version: number;
  /** False: a withdrawal. */
  readonly announce: boolean;
  /** Without bits past its length. */
  readonly prefix: Prefix;
  readonly maxLength: number;
  readonly asn: number;
}

export interface EndOfDataPdu {
  readonly kind: "end-of-data";
  readonly version: number;
  readonly sessionId: number;
  readonly serial: number;
  /** Null in version 0, which has none. */
  readonly intervals: RtrIntervals | null;
}

export interface RouterKeyPdu {
  readonly kind: "router-key";
  readonly version: number;
  readonly announce: boolean;
  /** Subject key identifier, 20 bytes. */
  readonly ski: Uint8Array;
  readonly asn: number;
  /** Subject public key info, as in the certificate. */
  readonly key: Uint8Array;
}

export interface ErrorReportPdu {
  readonly kind: "error-report";
  readonly version: number;
  readonly code: number;
  /** The faulty PDU, or its beginning; empty when there is none. */
  readonly pdu: Uint8Array;
  readonly text: string;
}

export type Pdu = SerialPdu | PlainPdu | CacheResponsePdu | PrefixPdu | EndOfDataPdu | RouterKeyPdu | ErrorReportPdu;

/** Bytes of a PDU's header: version, type, a field that depends on the type, length. */
export const headerBytes = 8;

/** Limit of a PDU of variable length: a router key has some 130 bytes, an Error Report twice the PDU that it is about and a text. */
export const pduBytesMax = 16_384;

/** Lengths of PDUs with a fixed length; End of Data has one per version. */
export const fixedLengths: ReadonlyMap<number, number> = new Map([
  [pduTypes.serialNotify, 12],
  [pduTypes.serialQuery, 12],
  [pduTypes.resetQuery, 8],
  [pduTypes.cacheResponse, 8],
  [pduTypes.ipv4Prefix, 20],
  [pduTypes.ipv6Prefix, 32],
  [pduTypes.cacheReset, 8],
]);

/** End of Data carries intervals from version 1 on. */
export function endOfDataBytes(version: number): number {
  return version === 0 ? 12 : 24;
}
