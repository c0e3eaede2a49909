/** Tables whose keys are of files: keys that were chosen so that an unkeyed hash has one value for all of them cost no more than others do. */

import { expect, test } from "@jest/globals";
import { makePrefix, type Prefix } from "@netfacts/address";
import { VrpTable } from "@netfacts/rpki/rtr";
import { countLinks } from "../../src/assembly/as-links.ts";
import { PathTable } from "../../src/assembly/path-table.ts";
import { VrpList } from "../../src/readers/vrp-list.ts";
import { PrefixIndex } from "../../src/replay/prefix-index.ts";

const keys = 1 << 15;
/** Of a table that is quadratic in such keys it is more than 100. */
const timesMax = 20;

/** The inverse of an odd number modulo 2^32. */
function inverse(odd: number): number {
  let found = odd;
  for (let round = 0; round < 5; round++) found = Math.imul(found, 2 - Math.imul(odd, found));
  return found;
}

/** Fills a table three times each with keys of both kinds, and compares the best times. */
function compare<K>(fill: (keys: readonly K[]) => number, chosen: readonly K[], others: readonly K[]): void {
  const best = (of: readonly K[]) =>
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const since = performance.now();
        expect(fill(of)).toBe(of.length);
        return performance.now() - since;
      }),
    );
  fill(others);
  expect(best(chosen)).toBeLessThan(timesMax * best(others));
}

interface Vrp {
  readonly prefix: Prefix;
  readonly asn: number;
}

const vrpsWith = (asnOf: (address: number, number: number) => number): Vrp[] =>
  Array.from({ length: keys }, (_, number) => {
    const address = 0x4000_0000 + number;
    return { prefix: makePrefix(4, address, 0, 0, 0, 32), asn: asnOf(address, number) >>> 0 };
  });
const unmixed = inverse(0x85ebca6b);
const chosenVrps = vrpsWith((address) => Math.imul(unmixed, 0x1234567 ^ Math.imul(address, 0x9e3779b1)));
const otherVrps = vrpsWith((_, number) => Math.imul(number, 0x2545f491));

test("VRPs of a validator's export", () => {
  const fill = (vrps: readonly Vrp[]) => {
    const list = new VrpList();
    for (const { prefix, asn } of vrps) list.add(prefix, 32, asn, null, null, 0);
    return list.size;
  };
  compare(fill, chosenVrps, otherVrps);
});

test("VRPs of an RTR cache", () => {
  const fill = (vrps: readonly Vrp[]) => {
    const table = new VrpTable(keys);
    table.begin(true);
    for (const { prefix, asn } of vrps) table.change(true, prefix, 32, asn);
    table.commit();
    return table.size;
  };
  compare(fill, chosenVrps, otherVrps);
});

/** A path of one sequence. */
function pathOf(asns: readonly number[]): Uint8Array {
  const path = new DataView(new ArrayBuffer(2 + 4 * asns.length));
  path.setUint8(0, 2);
  path.setUint8(1, asns.length);
  for (const [at, asn] of asns.entries()) path.setUint32(2 + 4 * at, asn);
  return new Uint8Array(path.buffer);
}

/** FNV-1a goes on from a state with the four bytes of an AS number. */
function fnv(state: number, asn: number): number {
  let hash = state;
  for (let shift = 24; shift >= 0; shift -= 8) hash = Math.imul(hash ^ ((asn >>> shift) & 255), 0x01000193);
  return hash;
}

/** Pairs of ASes, of which either leads FNV-1a from one state to the next. */
function equalSteps(count: number): [number[], number[]][] {
  const steps: [number[], number[]][] = [];
  let state = 2 + 8 * count;
  for (const byte of [2, 2 * count]) state = Math.imul(state ^ byte, 0x01000193);
  while (steps.length < count) {
    const met = new Map<number, number>();
    const secondOf = (first: number) => Math.imul(first, 0x2545f491) >>> 0;
    for (let first = 1; ; first++) {
      const next = fnv(fnv(state, first), secondOf(first));
      const before = met.get(next);
      met.set(next, first);
      if (before === undefined) continue;
      steps.push([
        [before, secondOf(before)],
        [first, secondOf(first)],
      ]);
      state = next;
      break;
    }
  }
  return steps;
}

function internedOf(paths: readonly Uint8Array[]): PathTable {
  const table = new PathTable();
  for (const path of paths) table.intern(path, 0, path.length);
  return table;
}

test("AS paths of a table", () => {
  const steps = equalSteps(15);
  const chosen = Array.from({ length: keys }, (_, number) => pathOf(steps.flatMap((step, bit) => step[(number >> bit) & 1] as number[])));
  const others = Array.from({ length: keys }, (_, number) =>
    pathOf(Array.from({ length: 30 }, (_, hop) => Math.imul(number + hop, 0x2545f491) >>> 0)),
  );
  compare((paths) => internedOf(paths).size, chosen, others);
});

test("neighbours on AS paths", () => {
  const tableOf = (rightOf: (left: number) => number) =>
    internedOf(Array.from({ length: keys }, (_, number) => pathOf([number + 1, rightOf(number + 1) >>> 0])));
  const chosen = tableOf((left) => Math.imul(unmixed, 0x1234567 ^ Math.imul(left, 0x9e3779b1)));
  const others = tableOf((left) => Math.imul(left, 0x2545f491));
  const uses = { ipv4: new Uint32Array(keys).fill(1), ipv6: new Uint32Array(keys) };
  const fill = ([table]: readonly PathTable[]) => countLinks(table as PathTable, uses).left.length / keys;
  compare(fill, [chosen], [others]);
});

test("prefixes of updates", () => {
  const kind = 64 + 64;
  const prefixesWith = (secondOf: (first: number) => number) =>
    Array.from({ length: keys }, (_, number) => {
      const first = 0x2000_0000 + number;
      return [first, secondOf(first) >>> 0] as const;
    });
  const chosen = prefixesWith((first) => {
    const hash = Math.imul(kind ^ first, 0x9e3779b1);
    return hash ^ (hash >>> 15) ^ 0x1234567;
  });
  const others = prefixesWith((first) => Math.imul(first, 0x2545f491));
  const fill = (prefixes: readonly (readonly [number, number])[]) => {
    const index = new PrefixIndex();
    for (const [first, second] of prefixes) index.add(6, first, second, 0, 0, 64);
    return index.size;
  };
  compare(fill, chosen, others);
});
