/** The whole route table against all VRPs of the five registries: every state as one hash table per length tells it. */

import { expect, test } from "@jest/globals";
import { isLong } from "../../../test/support/runs.ts";
import { type Vrp, VrpSet } from "../src/index.ts";
import { ByLengthRule } from "./by-length-rule.ts";
import { readRoutes, readVrps, whyNotReadable } from "./full-table.ts";

/** All routes are validated; the rule is asked for every one of them, or every tenth. */
const step = isLong ? 1 : 10;

test(`validates a full table as the rule by length does, held against ${isLong ? "every route" : "every tenth route"}`, () => {
  const why = whyNotReadable();
  if (why !== null) return console.log(`not run: origin validation of the full table (${why})`);
  const vrps: Vrp[] = [...readVrps()];
  const routes = readRoutes();
  const set = VrpSet.from(vrps);
  const rule = new ByLengthRule(vrps);
  const differing: string[] = [];
  const counts = new Uint32Array(4);
  for (let index = 0; index < routes.prefixes.length; index += step) {
    const prefix = routes.prefixes[index] as (typeof routes.prefixes)[number];
    const origin = routes.origins[index] as number;
    const expected = rule.state(prefix, origin);
    counts[expected] = (counts[expected] as number) + 1;
    if (set.originState(prefix, origin) !== expected) differing.push(JSON.stringify({ prefix, origin }));
  }
  expect(set.size).toBe(723_521);
  expect(differing).toEqual([]);
  // Real tables have all four: the figures are of the files named in full-table.ts.
  for (const count of counts) expect(count).toBeGreaterThan(1_000);
  console.log(
    `${routes.prefixes.length} routes, of those held against the rule: not found ${counts[0]}, valid ${counts[1]}, invalid for the AS ${counts[2]}, for the length ${counts[3]}`,
  );
});
