/** `/vrps/AS<number>`: the VRPs of an AS, against a filter over all VRPs and all routes. */

import { describe, expect, test } from "@jest/globals";
import { containsPrefix, formatPrefix } from "@netfacts/address";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { madeRoutes, madeVrps, route } from "../../snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { prefix } from "../../snapshot/test/support/text.ts";
import { ask } from "./support/checked.ts";

const { asnVrps, asn } = ask(madeGeneration(world));

test("tells which VRPs the AS uses, with the expiry and the trust anchor of each", () => {
  const record = asnVrps(3333);
  expect(record).toMatchObject({ asn: 3333, name: "RIPE-NCC-AS", counts: { vrps: 2, unannounced: 1, max_length_loose: 0 } });
  expect(record.vrps).toEqual({
    items: [
      {
        asn: 3333,
        prefix: "193.0.0.0/21",
        max_length: 21,
        ta: "ripe",
        expires_at: expect.any(String),
        announced_prefixes: 1,
        max_length_loose: false,
      },
      { asn: 3333, prefix: "193.0.0.0/24", max_length: 24, ta: "ripe", expires_at: null, announced_prefixes: 0, max_length_loose: false },
    ],
    total: 2,
    limit: 100,
    next_cursor: null,
  });
  expect(record.warnings).toEqual([]);
  expect(Object.keys(record.meta.data)).toEqual(["routes", "vrps", "as_names"]);
  expect(asnVrps(800)).toMatchObject({
    counts: { max_length_loose: 1 },
    vrps: { items: [{ announced_prefixes: 1, max_length_loose: true }] },
  });
});

test("an AS without VRPs has an empty list, which is not unknown", () => {
  expect(asnVrps(200)).toMatchObject({ counts: { vrps: 0, unannounced: 0, max_length_loose: 0 }, vrps: { items: [], total: 0 } });
});

test("counts as many VRPs as the record of the AS", () => {
  for (const number of [0, 100, 300, 800, 3333, 64_512]) expect(asnVrps(number).counts?.vrps).toBe(asn(number).rpki?.vrps_for_this_as);
});

test("a VRP of AS 0 authorises nothing, so that it is neither announced nor left over", () => {
  const record = asnVrps(0);
  expect(record.counts).toEqual({ vrps: 1, unannounced: null, max_length_loose: 0 });
  expect(record.vrps.items).toMatchObject([{ prefix: "19.0.0.0/8", announced_prefixes: null }]);
  for (const announced of [true, false]) expect(asnVrps(0, { announced }).vrps).toMatchObject({ items: [], total: 0 });
});

describe("what is unknown is null:", () => {
  test("all of it without VRPs", () => {
    const { vrps: _, ...without } = world;
    const record = ask(madeGeneration(without)).asnVrps(3333);
    expect(record).toMatchObject({ counts: null, vrps: { items: [], total: null }, warnings: ["vrps_unavailable"] });
  });

  test("the announcements without routes", () => {
    const { routes: _, ...without } = world;
    const record = ask(madeGeneration(without)).asnVrps(3333);
    expect(record.counts).toEqual({ vrps: 2, unannounced: null, max_length_loose: null });
    expect(record.vrps.items).toMatchObject([{ announced_prefixes: null, max_length_loose: null }, { announced_prefixes: null }]);
    expect(record.warnings).toEqual(["routes_unavailable"]);
  });

  test("what a family of the sample dataset cannot tell", () => {
    const sample = ask(
      madeGeneration({
        routes: madeRoutes([route("10.0.0.0/8", [1, 1]), route("2001:db8::/32", [1, 0, 1])]),
        vrps: madeVrps([
          { prefix: "10.0.0.0/8", asn: 1 },
          { prefix: "11.0.0.0/8", asn: 1 },
          { prefix: "2001:db8::/32", asn: 1 },
          { prefix: "2001:db9::/32", asn: 1 },
        ]),
        peersTotal: { ipv4: 1, ipv6: 0 },
        sampleData: true,
      }),
    ).asnVrps(1);
    expect(sample.vrps.items.map(({ announced_prefixes }) => announced_prefixes)).toEqual([1, 0, 1, null]);
    expect(sample.counts).toMatchObject({ vrps: 4, unannounced: null });
  });
});

test("filters, counts and pages as a filter over all VRPs and routes does", () => {
  const origins = [1, 2];
  const inside = fc
    .tuple(fc.constantFrom("10.0", "10.1", "2001:db8:0", "2001:db8:1"), fc.integer({ min: 12, max: 20 }), fc.nat(15))
    .map(([start, length, host]) =>
      start.includes(":")
        ? prefix(`${start}::/${length + 36}`)
        : prefix(`${start}.${(host << 4) & (0xff00 >> Math.max(0, length - 16))}.0/${Math.max(16, length)}`),
    );
  const vrp = fc.record({ prefix: inside, asn: fc.constantFrom(...origins), more: fc.nat(4), loose: fc.boolean() });
  fc.assert(
    fc.property(
      fc.uniqueArray(vrp, { maxLength: 24, selector: ({ prefix: at, asn, more }) => `${formatPrefix(at)} ${asn} ${more}` }),
      fc.uniqueArray(fc.tuple(inside, fc.constantFrom(...origins)), { maxLength: 24, selector: ([at]) => formatPrefix(at) }),
      fc.constantFrom(4 as const, 6 as const, null),
      fc.constantFrom(true, false, null),
      fc.integer({ min: 1, max: 5 }),
      (vrps, routes, family, announced, limit) => {
        const made = madeVrps(
          vrps.map(({ prefix: at, asn, more, loose }) => ({ prefix: formatPrefix(at), asn, maxLength: at.length + more, loose })),
        );
        const table = madeRoutes(routes.map(([at, origin]) => route(formatPrefix(at), [origin, 1])));
        const { asnVrps } = ask(madeGeneration({ vrps: made, routes: table, peersTotal: { ipv4: 1, ipv6: 1 } }));
        const usesOf = ({ prefix: at, asn, more }: (typeof vrps)[number]) =>
          routes.filter(([announcement, origin]) => {
            return origin === asn && containsPrefix(at, announcement) && announcement.length <= at.length + more;
          }).length;
        const own = vrps.filter(({ asn }) => asn === 1);
        const expected = own
          .filter(({ prefix: { version } }) => family === null || version === family)
          .map((each) => ({
            text: `${formatPrefix(each.prefix)} ${each.prefix.length + each.more}`,
            uses: usesOf(each),
            loose: each.loose,
          }))
          .filter(({ uses }) => announced === null || uses > 0 === announced);
        const record = asnVrps(1, { family, announced, limit: 1_000 });
        const shown = record.vrps.items.map(({ prefix: at, max_length, announced_prefixes, max_length_loose }) => {
          return { text: `${at} ${max_length}`, uses: announced_prefixes, loose: max_length_loose };
        });
        const byText = (a: { text: string }, b: { text: string }) => (a.text < b.text ? -1 : 1);
        expect(shown.toSorted(byText)).toEqual(expected.toSorted(byText));
        expect(record.counts).toEqual({
          vrps: own.length,
          unannounced: own.filter((each) => usesOf(each) === 0).length,
          max_length_loose: own.filter(({ loose }) => loose).length,
        });
        const page = asnVrps(1, { family, announced, limit });
        expect(page.vrps.items).toEqual(record.vrps.items.slice(0, limit));
        expect(page.vrps.next_cursor === null).toBe(expected.length <= limit);
      },
    ),
    { seed: seed(1), numRuns: runs(1_500) },
  );
});
