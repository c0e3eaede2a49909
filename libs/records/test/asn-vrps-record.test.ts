/** `/vrps/AS<number>`: the VRPs of an AS, against a filter over all VRPs and all routes. */

import { describe, expect, test } from "@jest/globals";
import { containsPrefix, formatPrefix } from "@netfacts/address";
import { type AsnVrp, type AsnVrpsQuestion, type AsnVrpsRecord, decodeCursor, type View, wholeRecord } from "@netfacts/contracts";
import type { Generation } from "@netfacts/snapshot";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { madeRoutes, madeVrps, route } from "../../snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { prefix } from "../../snapshot/test/support/text.ts";
import { AnswerNotes, asnVrpsSteps, finish } from "../src/index.ts";
import { ask, now } from "./support/checked.ts";

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
  expect(record.counts).toEqual({ vrps: 1, unannounced: null, max_length_loose: null });
  expect(record.vrps).toMatchObject({ items: [{ prefix: "19.0.0.0/8", announced_prefixes: null, max_length_loose: null }], total: 1 });
  for (const announced of [true, false]) expect(asnVrps(0, { announced }).vrps).toMatchObject({ items: [], total: null });
});

test("a default route uses the VRPs that authorise it, though it is no prefix of its AS", () => {
  const made = ask(
    madeGeneration({
      routes: madeRoutes([route("0.0.0.0/0", [1, 1]), route("10.0.0.0/8", [1, 1]), route("::/0", [2, 1])]),
      vrps: madeVrps([
        { prefix: "0.0.0.0/0", asn: 1 },
        { prefix: "0.0.0.0/0", asn: 1, maxLength: 8 },
        { prefix: "0.0.0.0/0", asn: 2 },
        { prefix: "::/0", asn: 2 },
      ]),
      peersTotal: { ipv4: 1, ipv6: 1 },
    }),
  );
  const usesOf = (number: number) => made.asnVrps(number).vrps.items.map(({ announced_prefixes }) => announced_prefixes);
  expect([usesOf(1), usesOf(2)]).toEqual([
    [1, 2],
    [0, 1],
  ]);
  expect(made.asnVrps(2).counts).toMatchObject({ unannounced: 1 });
  expect(made.prefix("0.0.0.0/0").vrps?.unannounced).toMatchObject([{ asn: 2 }]);
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
    expect(record.vrps.total).toBe(2);
    expect(record.warnings).toEqual(["routes_unavailable"]);
    for (const filter of [{ announced: true }, { announced: false }, { loose: true }])
      expect(ask(madeGeneration(without)).asnVrps(3333, filter).vrps).toMatchObject({ items: [], total: null });
  });

  test("what a family of the sample dataset cannot tell", () => {
    const { asnVrps } = ask(
      madeGeneration({
        routes: madeRoutes([route("10.0.0.0/8", [1, 1]), route("2001:db8::/32", [1, 0, 1])]),
        vrps: madeVrps([
          { prefix: "10.0.0.0/8", asn: 1 },
          { prefix: "11.0.0.0/8", asn: 1 },
          { prefix: "2001:db8::/32", asn: 1, maxLength: 48, loose: true },
          { prefix: "2001:db9::/32", asn: 1, maxLength: 48, loose: true },
        ]),
        peersTotal: { ipv4: 1, ipv6: 0 },
        sampleData: true,
      }),
    );
    const { counts, vrps } = asnVrps(1);
    expect(vrps.items.map(({ announced_prefixes, max_length_loose }) => [announced_prefixes, max_length_loose])).toEqual([
      [1, false],
      [0, false],
      [1, true],
      [null, null],
    ]);
    expect(counts).toEqual({ vrps: 4, unannounced: null, max_length_loose: null });
    expect(asnVrps(1, { announced: true }).vrps).toMatchObject({
      items: [{ prefix: "10.0.0.0/8" }, { prefix: "2001:db8::/32" }],
      total: null,
    });
    expect(asnVrps(1, { announced: false, family: 4 }).vrps).toMatchObject({ items: [{ prefix: "11.0.0.0/8" }], total: 1 });
  });
});

/** Every page, by its cursors. */
function pagesOf(generation: Generation, question: AsnVrpsQuestion): AsnVrp[][] {
  const pages: AsnVrp[][] = [];
  for (let page: View["page"] = null; ; ) {
    const { vrps }: Pick<AsnVrpsRecord, "vrps"> = finish(
      asnVrpsSteps(question, new AnswerNotes(generation, now, { ...wholeRecord, page })),
    );
    pages.push(vrps.items);
    if (vrps.next_cursor === null) return pages;
    page = decodeCursor("asn_vrps", question, vrps.next_cursor)?.page ?? null;
    expect(page?.start).toBe(pages.flat().length);
  }
}

function chunked<T>(items: readonly T[], size: number): T[][] {
  const pages = Math.max(1, Math.ceil(items.length / size));
  return Array.from({ length: pages }, (_, page) => items.slice(page * size, (page + 1) * size));
}

test("many VRPs are indexed once in steps that questions share, and each AS has its own", () => {
  const texts = Array.from({ length: 5_000 }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`);
  const generation = madeGeneration({
    routes: madeRoutes(texts.slice(0, 1_500).map((text) => route(text, [1, 1]))),
    vrps: madeVrps(texts.flatMap((text) => [1, 2, 3].map((asn) => ({ prefix: text, asn })))),
    peersTotal: { ipv4: 1, ipv6: 1 },
  });
  const question = (asn: number): AsnVrpsQuestion => ({ asn, family: null, announced: null, loose: null, limit: 1_000 });
  const answer = (asn: number) => asnVrpsSteps(question(asn), new AnswerNotes(generation, now));
  const [begun, other] = [answer(1), answer(2)];
  // The second question places the VRPs that the first has left.
  expect([begun.next().done, other.next().done]).toEqual([false, true]);
  const [first, again, third] = [begun, answer(1), answer(3)].map((each) => finish(each));
  expect(first?.counts).toEqual({ vrps: 5_000, unannounced: 3_500, max_length_loose: 0 });
  expect(again).toEqual(first);
  expect(third?.counts).toEqual({ vrps: 5_000, unannounced: 5_000, max_length_loose: 0 });
  expect(
    pagesOf(generation, question(2))
      .flat()
      .map(({ prefix: text, asn }) => `${text} ${asn}`),
  ).toEqual(texts.map((text) => `${text} 2`));
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
      fc.constantFrom(true, false, null),
      fc.integer({ min: 1, max: 5 }),
      (vrps, routes, family, announced, wanted, limit) => {
        const made = madeVrps(
          vrps.map(({ prefix: at, asn, more, loose }) => ({ prefix: formatPrefix(at), asn, maxLength: at.length + more, loose })),
        );
        const table = madeRoutes(routes.map(([at, origin]) => route(formatPrefix(at), [origin, 1])));
        const generation = madeGeneration({ vrps: made, routes: table, peersTotal: { ipv4: 1, ipv6: 1 } });
        const { asnVrps } = ask(generation);
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
          .filter(({ uses, loose }) => (announced === null || uses > 0 === announced) && (wanted === null || loose === wanted));
        const record = asnVrps(1, { family, announced, loose: wanted, limit: 1_000 });
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
        expect(record.vrps.total).toBe(expected.length);
        const question = { asn: 1, family, announced, loose: wanted, limit };
        expect(pagesOf(generation, question)).toEqual(chunked(record.vrps.items, limit));
      },
    ),
    { seed: seed(1), numRuns: runs(1_500) },
  );
});
