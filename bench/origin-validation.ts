/**
 * P11: origin validation of a whole route table against all VRPs, in one process: our lookup route by route, against one hash table per
 * prefix length, as it is done without a trie. `scripts/run.sh bench/origin-validation.ts`
 */

import { type Vrp, VrpSet } from "@netfacts/rpki";
import { ByLengthRule } from "../libs/rpki/test/by-length-rule.ts";
import { readRoutes, readVrps, whyNotReadable } from "../libs/rpki/test/full-table.ts";
import { interleave, printResults } from "./support/rounds.ts";

const rounds = 9;

const why = whyNotReadable();
if (why !== null) {
  console.log(`not run: ${why}`);
  process.exit(0);
}

const vrps: Vrp[] = [...readVrps()];
const routes = readRoutes();
const { prefixes, origins } = routes;
const count = prefixes.length;

let started = performance.now();
const set = VrpSet.from(vrps);
const buildMs = performance.now() - started;
started = performance.now();
const rule = new ByLengthRule(vrps);
const ruleBuildMs = performance.now() - started;

/** A walk over the table that never goes on to a neighbour: nothing is warm by luck. */
const shuffled = shuffledNumbers(count);
const states: Record<"rule" | "sorted" | "random", Uint8Array> = {
  rule: new Uint8Array(count),
  sorted: new Uint8Array(count),
  random: new Uint8Array(count),
};

/** As a record does it. */
const lookUp = (index: number): number => set.originState(prefixes[index] as (typeof prefixes)[number], origins[index] as number);

const results = await interleave(
  [
    {
      name: "hash table per length",
      run() {
        for (let index = 0; index < count; index++)
          states.rule[index] = rule.state(prefixes[index] as (typeof prefixes)[number], origins[index] as number);
        return count;
      },
    },
    {
      name: "VrpSet, random order",
      run() {
        for (const index of shuffled) states.random[index] = lookUp(index);
        return count;
      },
    },
    {
      name: "VrpSet, sorted order",
      run() {
        for (let index = 0; index < count; index++) states.sorted[index] = lookUp(index);
        return count;
      },
    },
  ],
  rounds,
);

const expected = Buffer.from(states.rule);
for (const [side, bytes] of Object.entries(states)) {
  if (!expected.equals(bytes))
    throw new Error(`${side} differs from the hash tables at route ${bytes.findIndex((state, index) => state !== expected[index])}`);
}

printResults(`P11 origin validation of ${count} routes, ${set.size} VRPs`, "routes/s", results, {
  routes: count,
  vrps: set.size,
  buildMs: Math.round(buildMs),
  hashTablesBuildMs: Math.round(ruleBuildMs),
});

function shuffledNumbers(size: number): Uint32Array {
  const numbers = Uint32Array.from({ length: size }, (_, index) => index);
  let seed = 6811;
  for (let index = size - 1; index > 0; index--) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor((seed / 2 ** 32) * (index + 1));
    [numbers[index], numbers[other]] = [numbers[other] as number, numbers[index] as number];
  }
  return numbers;
}
