/** `/prefix`: how it is announced, what VRPs say, what lies around and inside, and how it lies in registered space. */

import { describe, expect, test } from "@jest/globals";
import { madeAllocations, madeRoutes, madeVrps, route } from "../../snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { ask } from "./support/checked.ts";

const { prefix } = ask(madeGeneration(world));

test("an exact route is announced", () => {
  const record = prefix("193.0.0.0/21");
  expect(record).toMatchObject({
    prefix: "193.0.0.0/21",
    version: 4,
    special_purpose: null,
    announced: true,
    match: { prefix: "193.0.0.0/21", type: "exact" },
    origins: [{ asn: 3333, same_holder_as_allocation: true }],
    rpki: { state: "valid", covering_vrps: 1 },
    less_specifics: [],
    more_specifics: { count: 0, items: [], announced_share: 1, next_cursor: null },
    allocation: { relation: "equal", total: 1, blocks: [{ registry: "ripencc", conflicts: [] }] },
  });
  expect(record.vrps).toMatchObject({
    covering: [{ asn: 3333, max_length: 21 }],
    more_specific_count: 1,
    unannounced: [{ prefix: "193.0.0.0/24" }],
  });
  expect(record.warnings).toEqual([]);
});

test("a prefix that only a shorter route covers is not announced: origins and RPKI are of the route, VRPs of the prefix asked", () => {
  const record = prefix("11.1.2.0/25");
  expect(record).toMatchObject({
    announced: false,
    match: { prefix: "11.1.2.0/24", type: "covering" },
    origins: [{ asn: 200 }],
    rpki: { state: "invalid", reason: "length", covering_vrps: 1 },
    vrps: { covering: [{ prefix: "11.1.0.0/16" }], more_specific_count: 0 },
    more_specifics: { announced_share: 0 },
  });
  expect(record.less_specifics.map((less) => less.prefix)).toEqual(["11.1.2.0/24", "11.1.0.0/16", "11.0.0.0/8"]);
});

test("an unannounced prefix matches nothing; a default route is not its match", () => {
  expect(prefix("203.1.0.0/16")).toMatchObject({
    announced: false,
    match: { prefix: null, type: "none" },
    visibility: null,
    origins: [],
    moas: { is_moas: false, origin_count: 0 },
    rpki: { state: null },
    less_specifics: [],
    allocation: { relation: "none", total: 0, blocks: [] },
  });
});

test("what a sample does not cover is unknown, as in /ip", () => {
  const sample = ask(madeGeneration({ ...world, sampleData: true, peersTotal: { ipv4: 10, ipv6: 0 } }));
  expect(sample.prefix("2001:db8::/32")).toMatchObject({
    announced: null,
    moas: sample.ip("2001:db8::1").routing.moas,
    rpki: { mixed: null },
    more_specifics: { count: null, announced_share: null },
  });
  expect(sample.prefix("2a00::/16")).toMatchObject({ announced: null, more_specifics: { count: 2, announced_share: null } });
  expect(sample.prefix("2a00:1::/32").more_specifics).toMatchObject({ count: 1, announced_share: 1 });
  expect(sample.routing("2001:db8::1", { moreSpecifics: true }).more_specifics).toEqual({ count: null, items: [], truncated: false });
});

test("a default route is shown where it is asked for", () => {
  const record = prefix("0.0.0.0/0");
  expect(record).toMatchObject({
    announced: true,
    match: { prefix: "0.0.0.0/0", type: "exact" },
    origins: [{ asn: 1 }],
    less_specifics: [],
  });
  // It announces no space of its own.
  expect(record.more_specifics.announced_share).toBeLessThan(0.1);
  expect(prefix("::/0")).toMatchObject({ announced: true, more_specifics: { count: 2 } });
});

test("a prefix above routes tells how much of it they announce", () => {
  const { prefix: asked } = ask(
    madeGeneration({ routes: madeRoutes([route("192.0.2.0/25", [1, 1]), route("192.0.2.0/26", [1, 1]), route("192.0.2.192/26", [2, 1])]) }),
  );
  expect(asked("192.0.2.0/24").more_specifics).toMatchObject({ count: 3, announced_share: 0.75 });
});

test.each([
  ["all but a 4,096th", range(4095), 0.999],
  ["a 4,096th", [0], 0.001],
  ["all", range(4096), 1],
])("the announced share tells %s from all and from none", (_, subnets, expected) => {
  const routes = madeRoutes(subnets.map((subnet) => route(`60.${subnet >> 8}.${subnet & 255}.0/24`, [1, 1])));
  const { announced, more_specifics } = ask(madeGeneration({ routes })).prefix("60.0.0.0/12");
  expect({ announced, share: more_specifics.announced_share }).toEqual({ announced: false, share: expected });
});

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

describe("how it lies in registered space", () => {
  test.each([
    ["193.0.0.0/21", "equal", 1],
    ["193.0.0.0/24", "within", 1],
    ["193.0.4.0/24", "within", 1],
    ["193.0.0.0/20", "contains", 2],
    ["20.0.0.0/22", "contains", 1],
    ["20.0.0.0/21", "contains", 2],
    ["20.0.2.0/23", "crosses", 1],
    ["20.0.0.0/23", "within", 1],
    ["203.0.0.0/16", "none", 0],
    ["2a00:1::/33", "within", 1],
    ["2a00::/16", "contains", 1],
  ])("%s: %s, %i blocks", (text, relation, total) => {
    const { allocation } = prefix(text);
    expect([allocation.relation, allocation.total, allocation.blocks.length]).toEqual([relation, total, total]);
  });

  test("rivals of the block that it lies in are its conflicts", () => {
    expect(prefix("193.0.0.0/24").allocation.blocks[0]?.conflicts).toMatchObject([{ registry: "apnic" }]);
  });

  describe("if a record inside it wins over the one that holds all of it", () => {
    const older = { start: "64.124.0.0", end: "64.125.255.255", registry: "arin", status: "reserved" } as const;
    const newer = [
      { start: "64.124.0.0", end: "64.124.255.255", registry: "apnic", country: "SG" },
      { start: "64.125.0.0", end: "64.125.255.255", registry: "apnic", country: "JP" },
    ] as const;
    const routes = madeRoutes([route("64.124.0.0/15", [1, 1])]);
    const { prefix: asked, ip } = ask(madeGeneration({ routes, allocations: madeAllocations([...newer, older]) }));

    test("all are blocks, the one that holds all of it last", () => {
      const { relation, total, blocks } = asked("64.124.0.0/15").allocation;
      expect({ relation, total }).toEqual({ relation: "contains", total: 3 });
      expect(blocks.map(({ registry, registration_country }) => [registry, registration_country])).toEqual([
        ["apnic", "SG"],
        ["apnic", "JP"],
        ["arin", "NL"],
      ]);
    });

    test("the status of the one that loses is no reason for a warning, as for the addresses", () => {
      expect(asked("64.124.0.0/15").warnings).not.toContain("bogon_announced");
      expect(ip("64.124.0.1").warnings).not.toContain("bogon_announced");
      expect(asked("64.124.0.0/16").allocation).toMatchObject({
        relation: "equal",
        total: 1,
        blocks: [{ conflicts: [{ registry: "arin" }] }],
      });
    });

    test("a record inside that loses changes nothing", () => {
      const { prefix: other } = ask(madeGeneration({ routes, allocations: madeAllocations([older, ...newer]) }));
      expect(other("64.124.0.0/15")).toMatchObject({
        allocation: { relation: "equal", total: 1, blocks: [{ registry: "arin", conflicts: [] }] },
        warnings: expect.arrayContaining(["bogon_announced"]),
      });
    });
  });

  test("is null where no registry's file is imported", () => {
    expect(ask(madeGeneration({ routes: world.routes })).prefix("193.0.0.0/21").allocation).toEqual({
      relation: null,
      total: null,
      blocks: [],
      next_cursor: null,
    });
  });
});

test("lists are cut at the limit, and say so", () => {
  const record = prefix("20.0.0.0/21", 1);
  expect(record.allocation).toMatchObject({ relation: "contains", total: 2 });
  expect(record.allocation.blocks).toHaveLength(1);
  expect(record.meta.warnings).toEqual([{ code: "truncated", detail: "allocation.blocks shows 1 of 2" }]);
  const inside = prefix("11.0.0.0/8", 1);
  expect(inside.more_specifics).toMatchObject({ count: 2, next_cursor: expect.stringMatching(/^[\w-]{30}$/) });
  expect(inside.more_specifics.items).toHaveLength(1);
  expect(inside.warnings).toContain("truncated");
});

test("a VRP is unannounced when no route that it authorises is there", () => {
  const routes = madeRoutes([route("192.0.2.0/25", [1, 1]), route("198.51.100.0/24", [9, 1])]);
  const vrps = madeVrps([
    { prefix: "192.0.2.0/24", asn: 1, maxLength: 25 },
    { prefix: "192.0.2.0/24", asn: 1, maxLength: 24 },
    { prefix: "192.0.2.0/25", asn: 2 },
    { prefix: "192.0.2.0/25", asn: 1 },
    { prefix: "192.0.2.128/25", asn: 1 },
  ]);
  const { vrps: told } = ask(madeGeneration({ routes, vrps })).prefix("192.0.2.0/24");
  expect(told?.more_specific_count).toBe(3);
  expect(told?.unannounced.map(({ prefix: at, asn, max_length }) => `${at}-${max_length} ${asn}`)).toEqual([
    "192.0.2.0/24-24 1",
    "192.0.2.0/25-25 2",
    "192.0.2.128/25-25 1",
  ]);
});

test("no VRP is listed as unannounced where a sample has no full table of the family", () => {
  const unannouncedIn = (ipv4: number, sampleData = true) =>
    ask(madeGeneration({ ...world, sampleData, peersTotal: { ipv4, ipv6: 0 } })).prefix("193.0.0.0/21").vrps?.unannounced.length;
  expect([unannouncedIn(10), unannouncedIn(0), unannouncedIn(0, false)]).toEqual([1, 0, 1]);
});

test("a VRP of AS 0 is not listed as unannounced: it is there to authorise nothing", () => {
  const vrps = madeVrps([
    { prefix: "192.0.2.0/24", asn: 0, maxLength: 32 },
    { prefix: "192.0.2.128/25", asn: 0 },
    { prefix: "192.0.2.128/25", asn: 1 },
  ]);
  const { vrps: told } = ask(madeGeneration({ routes: madeRoutes([route("198.51.100.0/24", [9, 1])]), vrps })).prefix("192.0.2.0/24");
  expect(told).toMatchObject({ covering: [{ asn: 0 }], more_specific_count: 2 });
  expect(told?.unannounced.map(({ prefix: at, asn }) => [at, asn])).toEqual([["192.0.2.128/25", 1]]);
});

test("special-purpose space and what is announced in it", () => {
  expect(prefix("10.1.0.0/16")).toMatchObject({ special_purpose: { block: "10.0.0.0/8" }, announced: true, warnings: ["bogon_announced"] });
  expect(prefix("8.0.0.0/5").special_purpose).toBeNull();
});

test("without routes and VRPs it says what is not known", () => {
  const record = ask(madeGeneration({ allocations: world.allocations })).prefix("193.0.0.0/21");
  expect(record).toMatchObject({
    announced: null,
    match: { prefix: null, type: "none" },
    moas: { is_moas: null, origin_count: null },
    vrps: null,
    more_specifics: { count: null, items: [], announced_share: null },
    allocation: { relation: "equal" },
  });
  expect(record.warnings).toEqual(["routes_unavailable", "vrps_unavailable"]);
});
