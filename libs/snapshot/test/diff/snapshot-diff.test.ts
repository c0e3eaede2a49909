/** What differs between two snapshots, against a reading of both lists as plain tables. */

import { expect, test } from "@jest/globals";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { asNamesColumns, sectionChanges, sectionNames, sectionPairs } from "../../src/index.ts";
import { madeAllocations, madeAspas, madeRoutes, madeVrps, route } from "../support/made-sections.ts";
import { type MadeSnapshot, madeGeneration } from "../support/made-snapshot.ts";
import { prefix } from "../support/text.ts";

/** Few of each, so that both snapshots of a pair share many. */
const prefixText = fc.constantFrom("10.0.0.0/8", "10.0.0.0/9", "192.0.2.0/24", "192.0.2.0/25", "2001:db8::/32", "2001:db8::/48");
const asn = fc.integer({ min: 1, max: 4 });
const peers = fc.integer({ min: 0, max: 2 });

const routes = fc.uniqueArray(
  fc.record({
    prefix: prefixText,
    origins: fc.uniqueArray(fc.tuple(fc.oneof(asn, fc.constant(null), fc.constantFrom([1, 2], [3, 4])), peers, peers), {
      minLength: 1,
      maxLength: 4,
      selector: ([origin]) => String(origin),
    }),
  }),
  { selector: ({ prefix }) => prefix },
);
const vrps = fc.uniqueArray(
  fc.record({ prefix: prefixText, asn, extra: peers, ta: fc.constantFrom("ripe", "arin", null), expiresAt: fc.constantFrom(null, 5, 9) }),
  { selector: ({ prefix, asn, extra }) => `${prefix} ${extra} ${asn}` },
);
const names = fc.dictionary(fc.constantFrom("1", "20", "3000000000"), fc.constantFrom("A", "B"));
const aspas = fc.dictionary(fc.constantFrom("1", "20", "3000000000"), fc.uniqueArray(asn, { minLength: 1 }));
const made = fc.record({ routes, vrps, aspas, names });
type Made = typeof made extends fc.Arbitrary<infer T> ? T : never;

function snapshotOf({ routes, vrps, aspas, names }: Made): MadeSnapshot {
  return {
    routes: madeRoutes(routes.map(({ prefix, origins }) => route(prefix, ...origins))),
    vrps: madeVrps(vrps.map(({ prefix, extra, ...vrp }) => ({ ...vrp, prefix, maxLength: Number(prefix.split("/")[1]) + extra }))),
    aspas: madeAspas(Object.entries(aspas).map(([customer, providers]) => ({ customer: Number(customer), providers }))),
    names: asNamesColumns(new Map(Object.entries(names).map(([number, name]) => [Number(number), name]))),
  };
}

/** Every row as text: what names it, and what it says. */
function tableOf({ routes, vrps, aspas, names }: Made): Map<string, string> {
  const table = new Map<string, string>();
  for (const { prefix, origins } of routes)
    for (const [origin, full, partial] of origins)
      table.set(`routes ${JSON.stringify({ prefix, origin })}`, JSON.stringify({ peers_seeing: full, partial_peers_seeing: partial }));
  for (const { prefix, extra, asn, ta, expiresAt } of vrps)
    table.set(
      `vrps ${JSON.stringify({ prefix, max_length: Number(prefix.split("/")[1]) + extra, asn })}`,
      JSON.stringify({ ta, expires_at: expiresAt === null ? null : `1970-01-01T00:00:0${expiresAt}Z`, loose: false }),
    );
  for (const [customer, providers] of Object.entries(aspas))
    table.set(
      `aspas ${JSON.stringify({ customer: Number(customer) })}`,
      JSON.stringify({ providers: [...providers].sort(), ta: "ripe", expires_at: null }),
    );
  for (const [number, name] of Object.entries(names))
    table.set(`as_names ${JSON.stringify({ asn: Number(number) })}`, JSON.stringify({ name }));
  return table;
}

test("every difference of two snapshots is told once, and nothing else", () => {
  fc.assert(
    fc.property(made, made, (one, other) => {
      const [from, to] = [madeGeneration(snapshotOf(one)), madeGeneration(snapshotOf(other))];
      const told = sectionNames.flatMap((section) => [...sectionChanges(from, to, section)]);
      const [before, after] = [tableOf(one), tableOf(other)];
      const expected = [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key));
      expect(
        told
          .map(({ section, change, identity, from, to }) => [`${section} ${JSON.stringify(identity)}`, change, text(from), text(to)])
          .sort(),
      ).toEqual(
        expected
          .map((key) => {
            const change = !before.has(key) ? "added" : !after.has(key) ? "removed" : "changed";
            return [key, change, before.get(key) ?? null, after.get(key) ?? null];
          })
          .sort(),
      );
    }),
    { seed: seed(20261121), numRuns: runs(300) },
  );
});

function text(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

test("a route that was only seen again has not changed", () => {
  const at = (last: number) =>
    madeGeneration({
      routes: madeRoutes([{ prefix: prefix("192.0.2.0/24"), origins: [{ origin: 64500, full: 1, seen: [5, last] }] }], undefined, {
        64500: [5, last],
      }),
    });
  expect(sectionPairs(at(6), at(7)).map(({ section, same }) => [section, same])).toEqual([["routes", false]]);
  expect([...sectionChanges(at(6), at(7), "routes")]).toEqual([]);
});

test("registry records are compared by their bounds and registry, AS numbers by their runs", () => {
  const block = { start: "192.0.2.0", end: "192.0.2.255", registry: "arin", country: "US" } as const;
  const inner = { start: "192.0.2.0", end: "192.0.2.127", registry: "ripencc", country: "NL" } as const;
  const from = madeGeneration({
    allocations: madeAllocations([block, inner], [{ first: 64500, last: 64510, registry: "arin", country: "US" }]),
  });
  const to = madeGeneration({
    allocations: madeAllocations([{ ...block, country: "CA" }], [{ first: 64500, last: 64511, registry: "arin", country: "US" }]),
  });
  const told = [...sectionChanges(from, to, "allocations")].map(({ change, identity, to }) => [
    change,
    ...Object.values(identity),
    to?.registration_country,
  ]);
  expect(told).toEqual([
    ["removed", "192.0.2.0", "192.0.2.127", "ripencc", undefined],
    ["changed", "192.0.2.0", "192.0.2.255", "arin", "CA"],
    ["removed", 64500, 64510, "arin", undefined],
    ["added", 64500, 64511, "arin", "US"],
  ]);
});

test("a section that one side does not have is empty there, and one that both share is not read", () => {
  const names = asNamesColumns(new Map([[64500, "A"]]));
  const vrps = madeVrps([{ prefix: "192.0.2.0/24", asn: 64500 }]);
  const [from, to] = [madeGeneration({ names }), madeGeneration({ names, vrps })];
  expect(sectionPairs(from, to).map(({ section, from, to, same }) => [section, from !== null, to !== null, same])).toEqual([
    ["vrps", false, true, false],
    ["as_names", true, true, true],
  ]);
  expect([...sectionChanges(from, to, "vrps")].map(({ change }) => change)).toEqual(["added"]);
  expect([...sectionChanges(to, from, "vrps")].map(({ change }) => change)).toEqual(["removed"]);
  expect([...sectionChanges(from, to, "as_names")]).toEqual([]);
});
