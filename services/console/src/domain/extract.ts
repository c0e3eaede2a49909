/** Addresses in a list or a log file, each once, in their order, with the number of lines that have it. */

import { formatAddress, parseAddress } from "@netfacts/address";
import type { Pause } from "./bulk-table.ts";

export const linesMax = 100_000;
/** Of one line; what is behind is not looked at. */
const lineCharactersMax = 10_000;
/** Runs of the characters of addresses; a port behind IPv4 and brackets around IPv6 are no part of them. */
const candidate = /(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|[0-9a-f]*:[0-9a-f:]*:[0-9a-f:.]*)/gi;

export interface Extracted {
  /** Canonical text of an address → lines that have it. */
  readonly addresses: ReadonlyMap<string, number>;
  readonly lines: number;
  /** Whether lines behind the first 100,000 were left out. */
  readonly isCut: boolean;
}

/** @param pause  called now and then: it lets the page live while a large file is read. */
export async function extractAddresses(text: string, pause: Pause): Promise<Extracted> {
  const addresses = new Map<string, number>();
  let lines = 0;
  let start = 0;
  while (start < text.length && lines < linesMax) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, Math.min(end, start + lineCharactersMax));
    for (const address of new Set(addressesOf(line))) addresses.set(address, (addresses.get(address) ?? 0) + 1);
    lines += 1;
    start = end + 1;
    const pausing = pause();
    if (pausing !== null) await pausing;
  }
  return { addresses, lines, isCut: start < text.length };
}

function* addressesOf(line: string): Generator<string> {
  for (const [text] of line.matchAll(candidate)) {
    const address = parseAddress(text.replace(/[.:]+$/, (end) => (end === "::" ? end : ""))) ?? parseAddress(text);
    if (address !== null) yield formatAddress(address);
  }
}
