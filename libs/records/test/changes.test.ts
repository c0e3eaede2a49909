/** What changed for a prefix or an AS, against the diff of both whole snapshots and a plain reading of RFC 6811. */

import { expect, test } from "@jest/globals";
import type { Generation } from "@netfacts/snapshot";
import { sectionChanges } from "@netfacts/snapshot";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { madeAllocations, madeNames, madeRoutes, madeVrps, route } from "../../snapshot/test/support/made-sections.ts";
import { type MadeSnapshot, madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { prefix } from "../../snapshot/test/support/text.ts";
import { type Change, changesOf, finish } from "../src/index.ts";

const prefixTexts = ["10.0.0.0/8", "10.0.0.0/9", "192.0.2.0/24", "192.0.2.0/25", "2001:db8::/32", "0.0.0.0/0"] as const;
const prefixText = fc.constantFrom(...prefixTexts);
const asns = [1, 2, 3, 4] as const;
const asn = fc.constantFrom(...asns);
const peers = fc.integer({ min: 0, max: 2 });
const made = fc.record({
  routes: fc.uniqueArray(
    fc.record({
      prefix: prefixText,
      origins: fc.uniqueArray(fc.tuple(fc.oneof(asn, fc.constant(null), fc.constantFrom([1, 2], [3, 4])), peers), {
        minLength: 1,
        maxLength: 4,
        selector: ([origin]) => String(origin),
      }),
    }),
    { selector: ({ prefix }) => prefix },
  ),
  vrps: fc.uniqueArray(fc.record({ prefix: prefixText, asn, extra: peers }), {
    selector: ({ prefix, asn, extra }) => `${prefix} ${asn} ${extra}`,
  }),
  names: fc.dictionary(fc.constantFrom("1", "2"), fc.constantFrom("A", "B")),
  /** Countries of blocks that do not overlap, and of AS numbers; null: none. */
  blocks: fc.tuple(fc.constantFrom(null, "NL", "DE"), fc.constantFrom(null, "NL", "DE")),
  numbers: fc.tuple(fc.constantFrom(null, "NL", "DE"), fc.constantFrom(null, "NL", "DE")),
});
type Made = typeof made extends fc.Arbitrary<infer T> ? T : never;

const blockBounds = [
  ["10.0.0.0", "10.255.255.255"],
  ["192.0.2.0", "192.0.2.255"],
] as const;

function snapshotOf({ routes, vrps, names, blocks, numbers }: Made): MadeSnapshot {
  return {
    routes: madeRoutes(routes.map(({ prefix, origins }) => route(prefix, ...origins))),
    vrps: madeVrps(vrps.map(({ prefix, asn, extra }) => ({ prefix, asn, maxLength: Number(prefix.split("/")[1]) + extra }))),
    names: madeNames(names),
    allocations: madeAllocations(
      blockBounds.flatMap(([start, end], at) => (blocks[at] === null ? [] : [{ start, end, country: blocks[at] as string }])),
      numbers.flatMap((country, at) => (country === null ? [] : [{ first: at + 1, country }])),
    ),
  };
}

const bits = (text: string): string => {
  const { version, w0, w1, w2, w3, length } = prefix(text);
  return (
    version +
    [w0, w1, w2, w3]
      .map((word) => word.toString(2).padStart(32, "0"))
      .join("")
      .slice(0, length)
  );
};

/** RFC 6811, by the text of all bits. */
function stateOf({ vrps }: Made, of: string, origin: unknown): string {
  const length = Number(of.split("/")[1]);
  const covering = vrps.filter((vrp) => bits(of).startsWith(bits(vrp.prefix)));
  if (covering.length === 0) return "not-found";
  return covering.some((vrp) => vrp.asn === origin && length <= Number(vrp.prefix.split("/")[1]) + vrp.extra) ? "valid" : "invalid";
}

const sorted = (changes: readonly Change[]): string[] => changes.map((change) => JSON.stringify(change)).sort();

/** The diff of the whole snapshots, and the states of all routes in both; `isMeant` chooses. */
function expected(
  before: Made,
  after: Made,
  from: Generation,
  to: Generation,
  isMeant: (prefix: string, origin: unknown) => boolean,
): Change[] {
  const changes: Change[] = [];
  for (const { change, identity } of sectionChanges(from, to, "routes")) {
    const { prefix, origin } = identity as { prefix: string; origin: number | null };
    if (change !== "changed" && isMeant(prefix, origin))
      changes.push({ change: change === "added" ? "origin_appeared" : "origin_vanished", prefix, origin });
  }
  for (const { prefix, origins } of before.routes)
    for (const [origin] of origins) {
      const isInBoth = after.routes.some(
        (other) => other.prefix === prefix && other.origins.some(([now]) => String(now) === String(origin)),
      );
      const [was, is] = [stateOf(before, prefix, origin), stateOf(after, prefix, origin)];
      if (isInBoth && was !== is && isMeant(prefix, origin))
        changes.push({ change: "rpki_state_changed", prefix, origin, from: was, to: is } as Change);
    }
  return changes;
}

const without = (changes: readonly Change[], ...kinds: Change["change"][]) => changes.filter(({ change }) => !kinds.includes(change));

test("routes and RPKI states of a prefix and of an AS are those of the whole diff", () => {
  fc.assert(
    fc.property(made, made, (before, after) => {
      const [from, to] = [madeGeneration(snapshotOf(before)), madeGeneration(snapshotOf(after))];
      for (const text of prefixTexts)
        expect(sorted(without(finish(changesOf({ prefix: prefix(text) }, from, to)), "registration_changed"))).toEqual(
          sorted(expected(before, after, from, to, (other) => other === text)),
        );
      for (const number of asns)
        expect(sorted(without(finish(changesOf({ asn: number }, from, to)), "registration_changed", "name_changed"))).toEqual(
          sorted(expected(before, after, from, to, (other, origin) => origin === number && other !== "0.0.0.0/0")),
        );
    }),
    { numRuns: runs(200), seed: seed(1) },
  );
});

test("names and registrations are those of the whole diff", () => {
  fc.assert(
    fc.property(made, made, (before, after) => {
      const [from, to] = [madeGeneration(snapshotOf(before)), madeGeneration(snapshotOf(after))];
      const names = [...sectionChanges(from, to, "as_names")];
      const rows = [...sectionChanges(from, to, "allocations")];
      for (const number of asns) {
        const changes = finish(changesOf({ asn: number }, from, to));
        const named = names.find(({ identity }) => identity.asn === number);
        expect(changes.filter(({ change }) => change === "name_changed")).toEqual(
          named === undefined ? [] : [{ change: "name_changed", from: named.from?.name ?? null, to: named.to?.name ?? null }],
        );
        const own = rows.find(({ identity }) => identity.first_asn === number);
        expect(changes.filter(({ change }) => change === "registration_changed")).toMatchObject(
          own === undefined ? [] : [{ from: own.from, to: own.to }],
        );
      }
      for (const [text, start] of [
        ["10.0.0.0/9", "10.0.0.0"],
        ["192.0.2.0/24", "192.0.2.0"],
      ] as const) {
        const changes = finish(changesOf({ prefix: prefix(text) }, from, to));
        const own = rows.find(({ identity }) => identity.start === start);
        expect(changes.filter(({ change }) => change === "registration_changed")).toMatchObject(
          own === undefined ? [] : [{ from: own.from, to: own.to }],
        );
      }
    }),
    { numRuns: runs(200), seed: seed(1) },
  );
});

test("a section that either snapshot lacks is not known, and no change", () => {
  const whole = madeGeneration({
    routes: madeRoutes([route("192.0.2.0/24", [1, 3])]),
    names: madeNames({ 1: "A" }),
    allocations: madeAllocations([{ start: "192.0.2.0", end: "192.0.2.255" }], [{ first: 1 }]),
    vrps: madeVrps([{ prefix: "192.0.2.0/24", asn: 1 }]),
  });
  const bare = madeGeneration({});
  const noVrps = madeGeneration({ routes: madeRoutes([route("192.0.2.0/24", [1, 3])]) });
  for (const other of [bare, noVrps])
    for (const [from, to] of [
      [whole, other],
      [other, whole],
    ] as const)
      for (const subject of [{ asn: 1 }, { prefix: prefix("192.0.2.0/24") }]) expect(finish(changesOf(subject, from, to))).toEqual([]);
});
