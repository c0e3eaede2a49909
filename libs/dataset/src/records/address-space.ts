/** Sums over prefixes: merged without adding space, and counted once where they overlap. */

import { type Address, lastAddress, nextAddress, type Prefix, rangeToPrefixes } from "@netfacts/address";

/** An inclusive run of addresses. */
export interface Run {
  readonly start: Address;
  readonly end: Address;
}

/**
 * The union of prefixes as runs that neither overlap nor touch, ascending.
 *
 * @param prefixes  of one version, ascending by (address, length).
 */
export function mergeRuns(prefixes: Iterable<Prefix>): Run[] {
  const runs: { start: Address; end: Address }[] = [];
  for (const prefix of prefixes) {
    const last = lastAddress(prefix);
    const current = runs.at(-1);
    if (current !== undefined) {
      const next = nextAddress(current.end);
      if (next === null || compareWords(prefix, next) <= 0) {
        if (compareWords(last, current.end) > 0) current.end = last;
        continue;
      }
    }
    runs.push({ start: { version: prefix.version, w0: prefix.w0, w1: prefix.w1, w2: prefix.w2, w3: prefix.w3 }, end: last });
  }
  return runs;
}

/** The fewest prefixes that hold exactly the same space. */
export function aggregate(runs: readonly Run[]): Prefix[] {
  return runs.flatMap(({ start, end }) => rangeToPrefixes(start, end));
}

/** IPv4 addresses in runs. */
export function countAddresses(runs: readonly Run[]): number {
  return runs.reduce((sum, { start, end }) => sum + end.w0 - start.w0 + 1, 0);
}

/** Distinct /48s that IPv6 runs touch. */
export function countSlash48s(runs: readonly Run[]): number {
  let sum = 0;
  let last = -1;
  for (const { start, end } of runs) {
    const first = slash48(start);
    sum += slash48(end) - Math.max(first, last + 1) + 1;
    last = slash48(end);
  }
  return sum;
}

/** Share of a prefix's space that prefixes inside it hold, with three decimals; they must not overlap. */
export function coveredShare(prefix: Prefix, inside: Iterable<Prefix>): number {
  let share = 0;
  for (const { length } of inside) share += 2 ** (prefix.length - length);
  return Math.min(1, Math.round(share * 1000) / 1000);
}

/** The first 48 bits as an exact number. */
function slash48(address: Address): number {
  return address.w0 * 0x1_0000 + (address.w1 >>> 16);
}

function compareWords(a: Address, b: Address): number {
  return a.w0 - b.w0 || a.w1 - b.w1 || a.w2 - b.w2 || a.w3 - b.w3;
}
