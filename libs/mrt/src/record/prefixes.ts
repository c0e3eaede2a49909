/** Lists of prefixes (RFC 4271 §4.3), with path identifiers where ADD-PATH was negotiated (RFC 7911 §3). */

import type { Prefix } from "@netfacts/address";
import { fault } from "../fault.ts";
import { Nlri } from "../nlri.ts";
import type { Reader } from "./reader.ts";
import { RecordFault } from "./record-fault.ts";

export interface RoutePrefix {
  /** Bits past the length are cleared (RFC 4271 §4.3). */
  readonly prefix: Prefix;
  /** Null without ADD-PATH. */
  readonly pathId: number | null;
}

const nlri = new Nlri();

export function readPrefix(reader: Reader, version: 4 | 6): Prefix {
  const next = nlri.read(reader.bytes, reader.at, reader.end, version === 4 ? 32 : 128);
  if (next === fault.prefixLength) {
    throw new RecordFault("bad-prefix-length", reader.at, `an IPv${version} prefix has ${reader.bytes[reader.at]} bits`);
  }
  if (next < 0) throw new RecordFault("overrun", reader.at, "a prefix is longer than the list that holds it");
  reader.at = next;
  return { version, w0: nlri.w0, w1: nlri.w1, w2: nlri.w2, w3: nlri.w3, length: nlri.length };
}

/**
 * Reads the rest as prefixes. If the end truncates the last one, those before it are kept, and `onCut` is called with its position. An invalid length
 * makes all of them doubtful, and throws.
 */
export function readPrefixes(reader: Reader, version: 4 | 6, addPath: boolean, onCut: (at: number) => void): RoutePrefix[] {
  const prefixes: RoutePrefix[] = [];
  while (reader.left > 0) {
    const start = reader.at;
    try {
      const pathId = addPath ? reader.u32() : null;
      prefixes.push({ prefix: readPrefix(reader, version), pathId });
    } catch (error) {
      if (!(error instanceof RecordFault) || error.code !== "overrun") throw error;
      onCut(start);
      reader.skip(reader.end - reader.at);
    }
  }
  return prefixes;
}
