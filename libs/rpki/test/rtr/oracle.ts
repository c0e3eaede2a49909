/** The oracle: a stream of PDUs read aloud from RFC 8210 §5, as a whole; slow, and with nothing in common with the decoder. */

import type { Pdu } from "../../src/rtr/index.ts";

export interface Reading {
  readonly pdus: readonly unknown[];
  /** The first breach: its code, and the byte at which its PDU begins. */
  readonly failure: { readonly code: number; readonly offset: number } | null;
  /** Bytes that were read as PDUs. */
  readonly offset: number;
}

/** A form of a PDU: names with their bytes; `h`: the 16 bits of the header. */
const forms: Record<string, { kind: Pdu["kind"]; fields: [string, number][]; header: string | null }> = {
  "0": { kind: "serial-notify", fields: [["serial", 4]], header: "sessionId" },
  "1": { kind: "serial-query", fields: [["serial", 4]], header: "sessionId" },
  "2": { kind: "reset-query", fields: [], header: null },
  "3": { kind: "cache-response", fields: [], header: "sessionId" },
  "8": { kind: "cache-reset", fields: [], header: null },
};

export function readAloud(bytes: Uint8Array, versionMax: 0 | 1, settled: 0 | 1 | null): Reading {
  const stream = Uint8Array.from(bytes);
  const number = (from: number, bytes: number) => stream.slice(from, from + bytes).reduce((sum, byte) => sum * 256 + byte, 0);
  const pdus: unknown[] = [];
  let offset = 0;
  const fail = (code: number): Reading => ({ pdus, failure: { code, offset }, offset });
  while (stream.length - offset >= 8) {
    const version = number(offset, 1);
    const type = number(offset + 1, 1);
    const length = number(offset + 4, 4);
    if (type !== 10) {
      if (settled !== null && version !== settled) return fail(8);
      if (settled === null && version > versionMax && type !== 0) return fail(4);
    }
    const right = lengthOf(version, type);
    if (right === null) return fail(5);
    if (typeof right === "number" ? length !== right : length < right.least || length > 16_384) return fail(0);
    if (stream.length - offset < length) break;
    const pdu = body(version, type, length, (at, bytes) => number(offset + at, bytes), stream.slice(offset, offset + length));
    if (pdu === null) return fail(0);
    pdus.push(pdu);
    offset += length;
  }
  return { pdus, failure: null, offset };
}

function lengthOf(version: number, type: number): number | { least: number } | null {
  if (type === 7) return version === 0 ? 12 : 24;
  if (type === 9) return version === 0 ? null : { least: 32 };
  if (type === 10) return { least: 16 };
  return ({ 0: 12, 1: 12, 2: 8, 3: 8, 4: 20, 6: 32, 8: 8 } as Record<number, number>)[type] ?? null;
}

function body(version: number, type: number, length: number, number: (at: number, bytes: number) => number, bytes: Uint8Array): unknown {
  const form = forms[type];
  if (form !== undefined) {
    const fields = form.fields.map(([name, size]) => [name, number(8, size)]);
    return { kind: form.kind, version, ...(form.header !== null && { [form.header]: number(2, 2) }), ...Object.fromEntries(fields) };
  }
  if (type === 7) {
    const intervals = version === 0 ? null : { refresh: number(12, 4), retry: number(16, 4), expire: number(20, 4) };
    return { kind: "end-of-data", version, sessionId: number(2, 2), serial: number(8, 4), intervals };
  }
  if (type === 9) {
    const announce = number(2, 1) % 2 === 1;
    return { kind: "router-key", version, announce, ski: bytes.slice(8, 28), asn: number(28, 4), key: bytes.slice(32) };
  }
  if (type === 10) {
    const pduEnd = 12 + number(8, 4);
    if (pduEnd + 4 > length || pduEnd + 4 + number(pduEnd, 4) !== length) return null;
    const text = Buffer.from(bytes.slice(pduEnd + 4))
      .toString("utf8")
      .replace(/^\ufeff/, "");
    return { kind: "error-report", version, code: number(2, 2), pdu: bytes.slice(12, pduEnd), text };
  }
  const words = type === 4 ? 1 : 4;
  const [prefixLength, maxLength] = [number(9, 1), number(10, 1)];
  if (prefixLength > maxLength || maxLength > words * 32) return null;
  const bits = [...bytes.slice(12, 12 + words * 4)].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  if (bits.slice(prefixLength).includes("1")) return null;
  const word = (at: number) => (at < words ? number(12 + at * 4, 4) : 0);
  const prefix = { version: words === 1 ? 4 : 6, w0: word(0), w1: word(1), w2: word(2), w3: word(3), length: prefixLength };
  return { kind: "prefix", version, announce: number(8, 1) % 2 === 1, prefix, maxLength, asn: number(12 + words * 4, 4) };
}
