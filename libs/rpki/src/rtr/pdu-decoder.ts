/** Decodes the stream from a cache into PDUs (RFC 8210 §5), whatever the sizes of its pieces. */

import type { Prefix } from "@netfacts/address";
import {
  endOfDataBytes,
  fixedLengths,
  headerBytes,
  type Pdu,
  pduBytesMax,
  pduTypes,
  type RtrErrorCode,
  type RtrVersion,
  rtrErrors,
  rtrVersionMax,
} from "./pdu.ts";

/** A violation of the protocol in the stream, with the code for an Error Report. The decoder returns no more PDUs after it. */
export class RtrPduError extends Error {
  override readonly name = "RtrPduError";
  readonly code: RtrErrorCode;
  /** Byte of the stream at which the PDU begins, from 0. */
  readonly offset: number;
  /** The received part of the PDU, at most `pduBytesMax` bytes. */
  readonly pdu: Uint8Array;
  /** False for an Error Report, which must not be answered by another (RFC 8210 §5.11). */
  readonly mayReport: boolean;

  constructor(code: RtrErrorCode, reason: string, offset: number, pdu: Uint8Array, mayReport = true) {
    super(`byte ${offset}: ${reason}`);
    this.code = code;
    this.offset = offset;
    this.pdu = pdu;
    this.mayReport = mayReport;
  }
}

const empty = Buffer.alloc(0);
const utf8 = new TextDecoder("utf-8");

/**
 * Takes pieces of any size and returns PDUs one at a time: after each `feed`, call `next` until it returns null.
 *
 * Memory: one incomplete PDU, at most `pduBytesMax` bytes; a length field is checked before anything waits for that length.
 */
export class RtrDecoder {
  #waiting: Buffer = empty;
  #at = 0;
  /** Number of bytes of the stream before `#waiting`. */
  #before = 0;
  #version: RtrVersion | null = null;
  readonly #versionMax: RtrVersion;

  /** @param versionMax  the requested version: until a version is settled, no higher one is accepted. */
  constructor(versionMax: RtrVersion = rtrVersionMax) {
    this.#versionMax = versionMax;
  }

  /** From here on a PDU of another version is an error, except for an Error Report, which has its own. */
  settleVersion(version: RtrVersion): void {
    this.#version = version;
  }

  /** Number of bytes of the stream that were returned as PDUs. */
  get offset(): number {
    return this.#before + this.#at;
  }

  feed(piece: Uint8Array): void {
    const left = this.#waiting.subarray(this.#at);
    this.#before += this.#at;
    this.#at = 0;
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    this.#waiting = left.length === 0 ? bytes : Buffer.concat([left, bytes]);
  }

  /** The next PDU, or null when the rest of it is still missing. Its bytes are copies. @throws RtrPduError */
  next(): Pdu | null {
    const available = this.#waiting.length - this.#at;
    if (available < headerBytes) return null;
    const start = this.#at;
    const length = this.#checkedLength(start);
    if (available < length) return null;
    const pdu = this.#decode(start, length);
    this.#at += length;
    return pdu;
  }

  /** The length in the header, after checking that the header is possible. */
  #checkedLength(start: number): number {
    const bytes = this.#waiting;
    const version = bytes[start] as number;
    const type = bytes[start + 1] as number;
    const length = bytes.readUInt32BE(start + 4);
    this.#checkVersion(version, type);
    if (type === pduTypes.errorReport) this.#checkRange(length, 16, "an Error Report");
    else if (type === pduTypes.routerKey && version > 0) this.#checkRange(length, 32, "a Router Key PDU");
    else {
      const expected = type === pduTypes.endOfData ? endOfDataBytes(version) : fixedLengths.get(type);
      if (expected === undefined) throw this.#error(rtrErrors.unsupportedPduType, `PDU type ${type} does not exist in version ${version}`);
      if (length !== expected)
        throw this.#error(rtrErrors.corruptData, `a PDU of type ${type} claims ${length} bytes; expected ${expected}`);
    }
    return length;
  }

  #checkVersion(version: number, type: number): void {
    // It may report just that the version is not supported.
    if (type === pduTypes.errorReport) return;
    if (this.#version !== null) {
      if (version !== this.#version)
        throw this.#error(rtrErrors.unexpectedVersion, `a PDU of version ${version} in a session of version ${this.#version}`);
    } else if (version > this.#versionMax && type !== pduTypes.serialNotify) {
      throw this.#error(rtrErrors.unsupportedVersion, `version ${version}; ${this.#versionMax} was requested`);
    }
  }

  #checkRange(length: number, least: number, what: string): void {
    if (length < least || length > pduBytesMax)
      throw this.#error(rtrErrors.corruptData, `${what} claims ${length} bytes; expected ${least} to ${pduBytesMax}`);
  }

  #decode(start: number, length: number): Pdu {
    const bytes = this.#waiting;
    const version = bytes[start] as number;
    const field = bytes.readUInt16BE(start + 2);
    switch (bytes[start + 1]) {
      case pduTypes.serialNotify:
        return { kind: "serial-notify", version, sessionId: field, serial: bytes.readUInt32BE(start + 8) };
      case pduTypes.serialQuery:
        return { kind: "serial-query", version, sessionId: field, serial: bytes.readUInt32BE(start + 8) };
      case pduTypes.resetQuery:
        return { kind: "reset-query", version };
      case pduTypes.cacheResponse:
        return { kind: "cache-response", version, sessionId: field };
      case pduTypes.cacheReset:
        return { kind: "cache-reset", version };
      case pduTypes.ipv4Prefix:
        return this.#prefix(start, 32);
      case pduTypes.ipv6Prefix:
        return this.#prefix(start, 128);
      case pduTypes.endOfData: {
        const interval = (at: number) => bytes.readUInt32BE(start + at);
        const intervals = version === 0 ? null : { refresh: interval(12), retry: interval(16), expire: interval(20) };
        return { kind: "end-of-data", version, sessionId: field, serial: bytes.readUInt32BE(start + 8), intervals };
      }
      case pduTypes.routerKey:
        return {
          kind: "router-key",
          version,
          announce: isAnnouncement(bytes[start + 2]),
          ski: Uint8Array.from(bytes.subarray(start + 8, start + 28)),
          asn: bytes.readUInt32BE(start + 28),
          key: Uint8Array.from(bytes.subarray(start + 32, start + length)),
        };
      default:
        return this.#errorReport(start, length);
    }
  }

  #prefix(start: number, bits: 32 | 128): Pdu {
    const bytes = this.#waiting;
    const length = bytes[start + 9] as number;
    const maxLength = bytes[start + 10] as number;
    if (length > bits || maxLength < length || maxLength > bits)
      throw this.#error(rtrErrors.corruptData, `prefix length ${length} and max length ${maxLength} of ${bits} bits`);
    const word = (at: number) => (at * 32 < bits ? bytes.readUInt32BE(start + 12 + at * 4) : 0);
    const prefix: Prefix = { version: bits === 32 ? 4 : 6, w0: word(0), w1: word(1), w2: word(2), w3: word(3), length };
    if (hasHostBits(prefix)) throw this.#error(rtrErrors.corruptData, `a prefix with bits past its length ${length}`);
    return {
      kind: "prefix",
      version: bytes[start] as number,
      announce: isAnnouncement(bytes[start + 8]),
      prefix,
      maxLength,
      asn: bytes.readUInt32BE(start + 12 + bits / 8),
    };
  }

  #errorReport(start: number, length: number): Pdu {
    const bytes = this.#waiting;
    const pduLength = bytes.readUInt32BE(start + 8);
    if (pduLength > length - 16)
      throw this.#error(rtrErrors.corruptData, `an Error Report of ${length} bytes claims a PDU of ${pduLength} bytes`);
    const textLength = bytes.readUInt32BE(start + 12 + pduLength);
    if (textLength !== length - 16 - pduLength)
      throw this.#error(rtrErrors.corruptData, `an Error Report of ${length} bytes claims a text of ${textLength} bytes`);
    return {
      kind: "error-report",
      version: bytes[start] as number,
      code: bytes.readUInt16BE(start + 2),
      pdu: Uint8Array.from(bytes.subarray(start + 12, start + 12 + pduLength)),
      text: utf8.decode(bytes.subarray(start + 16 + pduLength, start + length)),
    };
  }

  #error(code: RtrErrorCode, reason: string): RtrPduError {
    const start = this.#at;
    const claimed = this.#waiting.readUInt32BE(start + 4);
    const there = Uint8Array.from(this.#waiting.subarray(start, start + Math.min(Math.max(claimed, headerBytes), pduBytesMax)));
    return new RtrPduError(code, reason, this.offset, there, this.#waiting[start + 1] !== pduTypes.errorReport);
  }
}

/** Only the lowest bit is used, the others are ignored (RFC 8210 §5.1). */
function isAnnouncement(flags: number | undefined): boolean {
  return ((flags ?? 0) & 1) === 1;
}

function hasHostBits({ version, w0, w1, w2, w3, length }: Prefix): boolean {
  const past = (word: number, from: number) => {
    const kept = length - from;
    return kept >= 32 ? 0 : kept <= 0 ? word : word & (0xffff_ffff >>> kept);
  };
  if (version === 4) return past(w0, 0) !== 0;
  return (past(w0, 0) | past(w1, 32) | past(w2, 64) | past(w3, 96)) !== 0;
}
