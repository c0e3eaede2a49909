/** Extracts addresses from a list or a log file: each once, in order, with the number of lines that have it. */

import { formatAddress, parseAddress } from "@netfacts/address";
import type { Pause } from "./bulk-table.ts";

export const linesMax = 100_000;
/** Characters of a line that are searched in one step, which takes a few ms. */
const pieceCharactersMax = 10_000;
/** No address is longer, with its brackets and its port. */
const addressCharactersMax = 100;
/**
 * Sequences of the characters of addresses, without a port after IPv4, a label such as `host:`, and brackets around IPv6. A label has a
 * letter that no IPv6 address has. Five numbers with dots are a version, except in tcpdump's `1.2.3.4.443 > 5.6.7.8.80`. The parts of IPv6 are
 * bounded, because the search tries all ways to divide them: anyone may write a line of 10,000 colons into a log.
 */
const candidate =
  /(?:(?<![\w.:])|(?<=[g-z_]\w*:))(?:\d{1,3}(?:\.\d{1,3}){3}(?:(?!\w|\.\w)|(?=\.\d{1,5} > )|(?<= > [\d.]+)(?=\.\d{1,5}:))|[0-9a-f]*:[0-9a-f:]{0,64}:[0-9a-f:.]{0,64}(?![\w:]))/gi;
/** A hardware address of eight bytes, which looks like IPv6. */
const eui64 = /^(?:[0-9a-f]{2}:){7}[0-9a-f]{2}$/i;

export interface Extracted {
  /** Canonical text of an address → lines that have it. */
  readonly addresses: ReadonlyMap<string, number>;
  readonly lines: number;
  /** Number of lines that have text but no address. */
  readonly linesWithout: number;
  /** Whether lines after the first 100,000 were left out. */
  readonly isCut: boolean;
}

/** @param pause  called at intervals, so that the page can respond while a large file is read. */
export async function extractAddresses(text: string, pause: Pause): Promise<Extracted> {
  const addresses = new Map<string, number>();
  let lines = 0;
  let linesWithout = 0;
  let start = 0;
  while (start < text.length && lines < linesMax) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    const found = new Set<string>();
    let isBlank = true;
    for (let from = start; from < end; ) {
      const to = pieceEnd(text, from, end);
      const piece = text.slice(from, to);
      for (const address of addressesOf(piece)) found.add(address);
      isBlank &&= piece.trim() === "";
      from = to;
      const pausing = pause();
      if (pausing !== null) await pausing;
    }
    for (const address of found) addresses.set(address, (addresses.get(address) ?? 0) + 1);
    if (found.size === 0 && !isBlank) linesWithout += 1;
    lines += 1;
    start = end + 1;
  }
  return { addresses, lines, linesWithout, isCut: start < text.length };
}

/** The end of the piece of a line that begins at `from`: before a character that is in no address, so that no address is cut. */
function pieceEnd(text: string, from: number, end: number): number {
  const last = from + pieceCharactersMax;
  if (end <= last) return end;
  for (let at = last; at > last - addressCharactersMax; at--) if (/[^\w.:]/.test(text.charAt(at))) return at;
  return last;
}

function* addressesOf(line: string): Generator<string> {
  for (const [text] of line.matchAll(candidate)) {
    if (eui64.test(text)) continue;
    for (const reading of readings(text)) {
      const address = parseAddress(reading);
      if (address === null) continue;
      yield formatAddress(address);
      break;
    }
  }
}

/** Possible readings: without punctuation at the end, unchanged, and without the port that tcpdump writes after IPv6. */
function readings(text: string): string[] {
  const bare = text.replace(/[.:]+$/, (end) => (end === "::" ? end : ""));
  return [bare, text, ...(bare.includes(":") ? [bare.replace(/\.\d{1,5}$/, "")] : [])];
}
