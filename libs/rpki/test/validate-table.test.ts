/** Validation of a sorted table in one walk gives each route the state that it gets alone. */

import { expect, test } from "@jest/globals";
import type { Prefix } from "@netfacts/address";
import { sortPrefixes } from "@netfacts/prefix-trie";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { type OriginState, type RouteColumns, stateWords, VrpSet, validateTable } from "../src/index.ts";
import { anyPrefix, anyRoute, type Route, vrpList } from "./arbitraries.ts";
import { ByLengthRule } from "./by-length-rule.ts";
import { linearRule } from "./linear-rule.ts";

/** The table of prefixes in order, each with the origins of all routes for it, and those routes in that order. */
function tableOf(routes: readonly Route[]): { columns: RouteColumns; ordered: Route[] } {
  const { columns: prefixes, order } = sortPrefixes(routes.map((route) => route.prefix));
  const start = [0];
  const ordered: Route[] = [];
  for (const position of order) {
    const own = routes[position] as Route;
    ordered.push(...routes.filter(({ prefix }) => same(prefix, own.prefix)));
    start.push(ordered.length);
  }
  return { columns: { prefixes, start: Uint32Array.from(start), origin: Uint32Array.from(ordered, ({ origin }) => origin ?? 0) }, ordered };
}
const same = (a: Prefix, b: Prefix) => JSON.stringify(a) === JSON.stringify(b);

test("gives every route of a random table the state of the linear rule", () => {
  fc.assert(
    fc.property(vrpList(40), fc.array(anyRoute, { maxLength: 40 }), (vrps, routes) => {
      const { columns, ordered } = tableOf(routes);
      const states = validateTable(VrpSet.from(vrps), columns);
      const expected = ordered.map(({ prefix, origin }) => linearRule(vrps, prefix, origin));
      expect([...states].map((state) => stateWords(state as OriginState))).toEqual(
        expected.map(({ state, reason }) => ({ state, reason })),
      );
    }),
    { seed: seed(1105), numRuns: runs(800) },
  );
});

test("the rule by length, which stands in for the linear one on full tables, is the same rule", () => {
  fc.assert(
    fc.property(vrpList(40), fc.array(anyRoute, { maxLength: 20 }), (vrps, routes) => {
      const rule = new ByLengthRule(vrps);
      for (const { prefix, origin } of routes) {
        const { state, reason } = linearRule(vrps, prefix, origin);
        expect(stateWords(rule.state(prefix, origin ?? 0))).toEqual({ state, reason });
      }
    }),
    { seed: seed(1107), numRuns: runs(800) },
  );
});

test("finds each prefix of the set itself, in both families", () => {
  fc.assert(
    fc.property(fc.array(anyPrefix, { maxLength: 60 }), (prefixes) => {
      const vrps = prefixes.map((prefix) => ({ asn: 7, prefix, maxLength: prefix.length, ta: null, expiresAt: null, loose: false }));
      const { columns } = tableOf(prefixes.map((prefix) => ({ prefix, origin: 7 })));
      expect(new Set(validateTable(VrpSet.from(vrps), columns))).toEqual(new Set(prefixes.length > 0 ? [1] : []));
    }),
    { seed: seed(1106), numRuns: runs(300) },
  );
});

test("calls everything not found where there are no VRPs", () => {
  const { columns } = tableOf([
    { prefix: { version: 4, w0: 0, w1: 0, w2: 0, w3: 0, length: 0 }, origin: 1 },
    { prefix: { version: 6, w0: 0, w1: 0, w2: 0, w3: 0, length: 0 }, origin: 1 },
  ]);
  expect([...validateTable(VrpSet.from([]), columns)]).toEqual([0, 0]);
});
