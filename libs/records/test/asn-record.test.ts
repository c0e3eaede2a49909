/** `/asn`: registration, sums that count overlapping space once, RPKI, and the list of prefixes. */

import { describe, expect, test } from "@jest/globals";
import { containsPrefix, formatPrefix, type Prefix } from "@netfacts/address";
import { linkSeen } from "@netfacts/snapshot";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { type MadeRoute, madeAllocations, madeProfiles, madeRoutes, madeVrps, route } from "../../snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { prefix } from "../../snapshot/test/support/text.ts";
import { ask } from "./support/checked.ts";

const { asn } = ask(madeGeneration(world));

test("tells apart: no provider, no ASPA, and not known whether there is one", () => {
  expect(asn(100).aspa).toEqual({ present: true, providers: [0], expires_at: null, ta: null });
  expect(asn(200).aspa).toEqual({ present: false, providers: [], expires_at: null, ta: null });
  const { aspas: _, ...withoutAspas } = world;
  const unknown = ask(madeGeneration(withoutAspas)).asn(3333);
  expect(unknown.aspa).toBeNull();
  expect(Object.keys(unknown.meta.data)).not.toContain("aspas");
  expect(unknown.warnings).toEqual([]);
});

test("takes the operator's list for the network type before the profile, and leaves open what neither tells", () => {
  expect(asn(100)).toMatchObject({
    organisation: "Hundred",
    website: null,
    network_type: { type: "transit", basis: "operator:network-types", confidence: 0.9 },
  });
  expect(asn(501).network_type).toEqual({ type: "content", basis: "peeringdb:net.info_type", confidence: 0.5 });
  expect(asn(100).network_types.map(({ type, basis }) => [type, basis])).toEqual([
    ["transit", "operator:network-types"],
    ["nsp", "operator:overrides"],
  ]);
  expect(asn(200)).toMatchObject({ organisation: null, website: null, network_type: null, network_types: [] });
  const { profiles: _, networkTypes: __, ...without } = world;
  const unknown = ask(madeGeneration(without)).asn(3333);
  expect(unknown).toMatchObject({ organisation: null, website: null, network_type: null, warnings: [] });
});

test.each<[string, string | null, string | undefined, string | null]>([
  ["the country of registration, also where the organisation is elsewhere", "NL", "DE", "NL"],
  ["the organisation's where the registry gives a region", "EU", "NL", "NL"],
  ["the organisation's where the registry gives nothing", null, "NL", "NL"],
  ["the region where nobody knows more", "EU", undefined, "EU"],
  ["the other region", "AP", undefined, "AP"],
  ["none where nobody knows any", null, undefined, null],
])("the flag is of %s", (_what, registered, organisation, flag) => {
  const made = madeGeneration({
    allocations: madeAllocations([], [{ first: 3333, country: registered }]),
    profiles: madeProfiles({ 3333: { organisation: "RIPE NCC", ...(organisation !== undefined && { country: organisation }) } }),
  });
  const record = ask(made).asn(3333);
  expect(record).toMatchObject({ registration_country: registered, organisation_country: organisation ?? null });
  expect(record.country_flag?.country ?? null).toBe(flag);
});

describe("neighbours", () => {
  const { ipv4, ipv6, within } = linkSeen;
  const { asn: asked } = ask(
    madeGeneration({
      ...world,
      routes: madeRoutes(
        [route("193.0.0.0/21", [3333, 9])],
        [
          [100, 3333, 6, ipv4 | ipv6 | within],
          [77, 3333, 2, ipv4],
          [3333, 501, 3, ipv6],
          [3333, 88, 1, ipv6],
        ],
      ),
    }),
  );

  test("stand in the order of their paths, with their share of the paths on their side and what the AS says in its ASPA", () => {
    const { neighbours, warnings } = asked(3333);
    expect(neighbours).toMatchObject({ method: "observed-paths", counts: { left: 1, right: 2, uncertain: 1 } });
    const side = { ipv4: false, ipv6: true, aspa: null };
    expect(neighbours?.items).toEqual([
      { asn: 100, name: "HUNDRED", position: "left", paths_left: 6, paths_right: 0, share: 0.75, ipv4: true, ipv6: true, aspa: "provider" },
      { asn: 501, name: null, position: "right", paths_left: 0, paths_right: 3, share: 0.75, ...side },
      { asn: 77, name: null, position: "uncertain", paths_left: 2, paths_right: 0, share: 0.25, ipv4: true, ipv6: false, aspa: null },
      { asn: 88, name: null, position: "right", paths_left: 0, paths_right: 1, share: 0.25, ...side },
    ]);
    expect(warnings).toEqual([]);
  });

  test("are counted all where not all are shown", () => {
    const { neighbours, warnings } = asked(3333, { limit: 1 });
    expect(neighbours).toMatchObject({ counts: { left: 1, right: 2, uncertain: 1 }, items: [{ asn: 100 }] });
    expect(warnings).toContain("truncated");
  });

  test("are none of an AS that is on no path, and not known without routes that tell of paths", () => {
    expect(asked(64_999).neighbours).toEqual({
      method: "observed-paths",
      counts: { left: 0, right: 0, uncertain: 0 },
      items: [],
      next_cursor: null,
    });
    expect(asn(3333).neighbours).toBeNull();
  });
});

test("tells registration, counts and prefixes of an AS", () => {
  const { meta: _, warnings, ...record } = asn(3333);
  expect(record).toEqual({
    asn: 3333,
    asdot: "3333",
    name: "RIPE-NCC-AS",
    organisation: "Réseaux IP Européens",
    organisation_country: null,
    website: "https://ripe.example/",
    registry: "ripencc",
    registration_country: "NL",
    country_flag: { country: "NL", name: "Netherlands", emoji: "🇳🇱", svg_url: "/flags/nl.svg" },
    status: "assigned",
    allocated_on: "1993-09-01",
    holder: { id: "h1", asns: [100, 3333], asn_count: 2, name: "HUNDRED", basis: "delegated-extended:opaque-id+as-names" },
    special_purpose: null,
    allocations: {
      items: [
        { registry: "ripencc", block: { start: "193.0.0.0", end: "193.0.7.255", cidrs: ["193.0.0.0/21"] }, allocated_on: "1993-09-01" },
        {
          registry: "ripencc",
          block: { start: "2a00:1::", end: "2a00:1:ffff:ffff:ffff:ffff:ffff:ffff", cidrs: ["2a00:1::/32"] },
          allocated_on: null,
        },
      ],
      total: 2,
      next_cursor: null,
    },
    network_type: { type: "non_profit", basis: "peeringdb:net.info_type", confidence: 0.8 },
    network_types: [
      {
        type: "non_profit",
        basis: "peeringdb:net.info_type",
        confidence: 0.8,
        prefix: null,
        asn: 3333,
        provider: null,
        region: null,
        services: [],
      },
    ],
    announced: true,
    first_seen_at: null,
    last_seen_at: null,
    counts: {
      ipv4: { prefixes: 1, prefixes_aggregated: 1, addresses: 2048, largest: 21 },
      ipv6: { prefixes: 1, prefixes_aggregated: 1, slash48s: 65536, largest: 32 },
      moas_prefixes: 0,
      low_visibility_prefixes: 1,
    },
    rpki: { valid: 1, invalid: 0, not_found: 2, valid_share: 0.333, vrps_for_this_as: 2 },
    aspa: { present: true, providers: [100, 200], expires_at: "2026-11-22T08:55:01Z", ta: "ripe" },
    neighbours: null,
    prefixes: {
      items: [
        { prefix: "193.0.0.0/21", visibility_ratio: 0.9, rpki_state: "valid", is_moas: false },
        { prefix: "2a00:1::/32", visibility_ratio: 0.9, rpki_state: "not-found", is_moas: false },
        { prefix: "2a00:1:1::/48", visibility_ratio: 0, rpki_state: "not-found", is_moas: false },
      ],
      total: 3,
      limit: 100,
      next_cursor: null,
    },
  });
  expect(warnings).toEqual([]);
});

test("an AS is as old as its history, also where it announces nothing now", () => {
  const routes = madeRoutes([route("192.0.2.0/24", [64500, 9])], undefined, {
    64500: [1_700_000_000, 1_763_712_000],
    64501: [1_600_000_000, 1_750_000_000],
  });
  const { asn } = ask(madeGeneration({ ...world, routes }));
  const told = (number: number) => {
    const { announced, first_seen_at, last_seen_at } = asn(number);
    return [announced, first_seen_at, last_seen_at];
  };
  expect(told(64500)).toEqual([true, "2023-11-14T22:13:20Z", "2025-11-21T08:00:00Z"]);
  expect(told(64501)).toEqual([false, "2020-09-13T12:26:40Z", "2025-06-15T15:06:40Z"]);
  expect(told(64502)).toEqual([false, null, null]);
});

test("a default route is nobody's prefix", () => {
  expect(asn(1)).toMatchObject({
    announced: false,
    counts: { ipv4: { prefixes: 0, addresses: 0, largest: null } },
    prefixes: { total: 0 },
  });
});

test("filters by family and by state; counts stay those of the whole AS", () => {
  const list = (options: Parameters<typeof asn>[1]) => asn(3333, options).prefixes.items.map((item) => item.prefix);
  expect(list({ family: 4 })).toEqual(["193.0.0.0/21"]);
  expect(list({ family: 6 })).toEqual(["2a00:1::/32", "2a00:1:1::/48"]);
  expect(list({ rpki: "valid" })).toEqual(["193.0.0.0/21"]);
  expect(list({ rpki: "invalid" })).toEqual([]);
  expect(list({ family: 6, rpki: "not-found", aggregate: true })).toEqual(["2a00:1::/32"]);
  expect(asn(3333, { family: 4 }).counts?.ipv6.prefixes).toBe(1);
});

test("MOAS counts the prefixes that others originate too, AS_SETs apart", () => {
  expect(asn(100).counts).toMatchObject({ moas_prefixes: 1 });
  expect(asn(100).prefixes.items.map(({ is_moas }) => is_moas)).toEqual([false, true]);
  expect(asn(400).prefixes.items).toMatchObject([{ is_moas: false }]);
});

test("lists are cut at the limit, and say so", () => {
  const record = asn(3333, { limit: 1 });
  expect(record.prefixes).toMatchObject({ total: 3, limit: 1, next_cursor: expect.stringMatching(/^[\w-]{30}$/) });
  expect(record.allocations).toMatchObject({ total: 2, next_cursor: expect.stringMatching(/^[\w-]{30}$/) });
  expect(record.prefixes.next_cursor).not.toBe(record.allocations.next_cursor);
  expect([record.prefixes.items.length, record.allocations.items.length]).toEqual([1, 1]);
  expect(record.meta.warnings).toEqual([
    { code: "truncated", detail: "allocations shows 1 of 2" },
    { code: "truncated", detail: "prefixes shows 1 of 3" },
  ]);
});

test("special-purpose and reserved numbers that originate prefixes are bogons; asdot is RFC 5396's", () => {
  expect(asn(64512)).toMatchObject({
    asdot: "64512",
    special_purpose: { name: expect.any(String) },
    announced: true,
    warnings: ["bogon_announced"],
  });
  expect(asn(700)).toMatchObject({ status: "reserved", registration_country: null, country_flag: null, warnings: ["bogon_announced"] });
  expect(asn(65_546)).toMatchObject({ asdot: "1.10", announced: false, registry: null, warnings: [] });
});

describe("counts", () => {
  test("of RPKI agree with the list, prefixes that no full-feed peer sees among them", () => {
    const routes = madeRoutes([route("11.1.0.0/16", [64512, 0, 1]), route("71.0.0.0/24", [64512, 5])]);
    const { asn: asked } = ask(madeGeneration({ ...world, routes }));
    const { counts, rpki } = asked(64512);
    expect(counts).toMatchObject({ ipv4: { prefixes: 1 }, low_visibility_prefixes: 1 });
    expect(rpki).toMatchObject({ valid: 0, invalid: 1, not_found: 1, valid_share: 0 });
    for (const state of ["valid", "invalid", "not-found"] as const)
      expect([state, asked(64512, { rpki: state }).prefixes.total]).toEqual([state, rpki?.[state === "not-found" ? "not_found" : state]]);
  });

  test("one prefix of thousands that is not valid keeps the share of the valid ones below 1", () => {
    const valid = Array.from({ length: 4095 }, (_, subnet) => route(`60.${subnet >> 8}.${subnet & 255}.0/24`, [1, 1]));
    const vrps = madeVrps([{ prefix: "60.0.0.0/12", asn: 1, maxLength: 24 }]);
    const rpki = (routes: typeof valid) => ask(madeGeneration({ routes: madeRoutes(routes), vrps })).asn(1).rpki;
    expect(rpki(valid)).toMatchObject({ valid: 4095, invalid: 0, valid_share: 1 });
    expect(rpki([...valid, route("60.0.0.0/25", [1, 1])])).toMatchObject({ valid: 4095, invalid: 1, valid_share: 0.999 });
  });

  test("are null where no full-feed peer can tell them", () => {
    const { asn: asked } = ask(madeGeneration({ ...world, peersTotal: { ipv4: 10, ipv6: 0 } }));
    const { counts, prefixes } = asked(3333);
    expect(prefixes.items.map((item) => item.prefix)).toContain("2a00:1::/32");
    expect(counts).toMatchObject({
      ipv4: { prefixes: 1 },
      ipv6: { prefixes: null, prefixes_aggregated: null, slash48s: null, largest: null },
      moas_prefixes: 0,
    });
    const none = ask(madeGeneration({ ...world, peersTotal: { ipv4: 0, ipv6: 0 } })).asn(3333);
    expect(none.counts).toMatchObject({ ipv4: { prefixes: null, addresses: null }, moas_prefixes: null });
  });

  test("of an AS that a sample does not show are unknown where the sample does not cover both families", () => {
    const sample = (ipv6: number) => ask(madeGeneration({ ...world, sampleData: true, peersTotal: { ipv4: 10, ipv6 } })).asn(65_546);
    expect(sample(0)).toMatchObject({ announced: null, prefixes: { total: null }, rpki: { valid: null, valid_share: null } });
    expect(sample(10)).toMatchObject({ announced: false, prefixes: { total: 0 }, rpki: { valid: 0, valid_share: null } });
    expect(ask(madeGeneration({ ...world, peersTotal: { ipv4: 10, ipv6: 0 } })).asn(65_546).announced).toBe(false);
  });
});

describe("what is not imported", () => {
  test("is null", () => {
    const record = ask(madeGeneration({})).asn(3333);
    expect(record).toMatchObject({
      name: null,
      registry: null,
      holder: null,
      announced: null,
      counts: null,
      rpki: null,
      prefixes: { items: [], total: null },
    });
    expect(record.warnings.sort()).toEqual(["allocations_unavailable", "routes_unavailable", "vrps_unavailable"]);
  });

  test("without routes, how its prefixes validate is not known, but how many VRPs name it is", () => {
    expect(ask(madeGeneration({ vrps: world.vrps })).asn(3333).rpki).toEqual({
      valid: null,
      invalid: null,
      not_found: null,
      valid_share: null,
      vrps_for_this_as: 2,
    });
  });

  test("without VRPs its prefixes have no state", () => {
    const record = ask(madeGeneration({ routes: world.routes })).asn(3333);
    expect(record.rpki).toBeNull();
    expect(record.prefixes.items[0]?.rpki_state).toBeNull();
  });

  test("a list of address space without a holder is empty", () => {
    const record = ask(madeGeneration({ allocations: madeAllocations([], [{ first: 1 }]) })).asn(1);
    expect(record).toMatchObject({ registry: "ripencc", holder: null, allocations: { items: [], next_cursor: null } });
  });
});

describe("sums over prefixes", () => {
  // A /20 of IPv4 and a /44 of IPv6, so that all of it can be counted one by one.
  const child = ({ length: outer, ...base }: Prefix, length: number, number: number): Prefix => {
    const own = number % 2 ** (length - outer);
    const words = base.version === 4 ? { w0: base.w0 + own * 2 ** (32 - length) } : { w1: base.w1 + own * 2 ** (64 - length) };
    return { ...base, ...words, length };
  };
  const within = (root: Prefix, longest: number) =>
    fc
      .record({ length: fc.integer({ min: root.length, max: longest }), number: fc.nat() })
      .map(({ length, number }) => child(root, length, number));
  const [root4, root6] = [prefix("10.0.0.0/20"), prefix("2001:db8::/44")];
  const routesOf = (prefixes: readonly Prefix[]): MadeRoute[] =>
    prefixes.map((one) => ({ prefix: one, origins: [{ origin: 5, full: 1 }] }));
  const lists = fc.record({
    ipv4: fc.uniqueArray(within(root4, 30), { selector: formatPrefix, maxLength: 25 }),
    ipv6: fc.uniqueArray(within(root6, 56), { selector: formatPrefix, maxLength: 25 }),
  });
  /** The smallest units of space, one by one. */
  const unitsOf = (root: Prefix, length: number) =>
    Array.from({ length: 2 ** (length - root.length) }, (_, number) => child(root, length, number));
  const units4 = unitsOf(root4, 30);
  const units6 = unitsOf(root6, 56);
  const held = (prefixes: readonly Prefix[], units: readonly Prefix[]) =>
    units.filter((unit) => prefixes.some((one) => containsPrefix(one, unit)));

  test("count every address once, and every /48 that is touched", () => {
    fc.assert(
      fc.property(lists, ({ ipv4, ipv6 }) => {
        const { counts } = ask(madeGeneration({ routes: madeRoutes(routesOf([...ipv4, ...ipv6])) })).asn(5);
        expect(counts?.ipv4).toMatchObject({ prefixes: ipv4.length, addresses: 4 * held(ipv4, units4).length });
        const touched = new Set(held(ipv6, units6).map(({ w0, w1 }) => `${w0} ${w1 >>> 16}`));
        expect(counts?.ipv6).toMatchObject({ prefixes: ipv6.length, slash48s: touched.size });
        expect(counts?.ipv4.largest).toBe(ipv4.length === 0 ? null : Math.min(...ipv4.map(({ length }) => length)));
      }),
      { seed: seed(48), numRuns: runs(150) },
    );
  });

  test("aggregation holds exactly the announced space, in as few prefixes as can be", () => {
    fc.assert(
      fc.property(lists, ({ ipv4, ipv6 }) => {
        const record = ask(madeGeneration({ routes: madeRoutes(routesOf([...ipv4, ...ipv6])) })).asn(5, { aggregate: true });
        const merged = record.prefixes.items.map((item) => prefix(item.prefix));
        expect(record.prefixes.total).toBe(merged.length);
        const [merged4, merged6] = [merged.filter(({ version }) => version === 4), merged.filter(({ version }) => version === 6)];
        expect(held(merged4, units4).length).toBe(held(ipv4, units4).length);
        expect(held(merged4, held(ipv4, units4)).length).toBe(held(ipv4, units4).length);
        expect(held(merged6, units6).length).toBe(held(ipv6, units6).length);
        expect(held(merged6, held(ipv6, units6)).length).toBe(held(ipv6, units6).length);
        const texts = new Set(merged.map(formatPrefix));
        expect(merged.filter((one) => merged.some((other) => other !== one && containsPrefix(other, one)))).toEqual([]);
        // The other half of none is there too, or both would be one.
        expect(merged.filter((one) => texts.has(formatPrefix({ ...one, ...flipLast(one) })))).toEqual([]);
        expect(record.counts?.ipv4.prefixes_aggregated).toBe(merged4.length);
        expect(record.counts?.ipv6.prefixes_aggregated).toBe(merged6.length);
      }),
      { seed: seed(96), numRuns: runs(150) },
    );
  });

  /** The address of the prefix beside it under the same parent. */
  function flipLast({ version, w0, w1, length }: Prefix): { w0: number; w1: number } {
    return version === 4 ? { w0: (w0 ^ (1 << (32 - length))) >>> 0, w1: 0 } : { w0, w1: (w1 ^ (1 << (64 - length))) >>> 0 };
  }

  test("of an aggregate of several, what holds for each alone is null", () => {
    const routes = madeRoutes([
      route("192.0.2.0/25", [5, 1]),
      route("192.0.2.128/25", [5, 1]),
      route("198.51.100.0/24", [5, 1]),
      route("198.51.100.0/25", [5, 1]),
    ]);
    expect(ask(madeGeneration({ routes })).asn(5, { aggregate: true }).prefixes.items).toEqual([
      { prefix: "192.0.2.0/24", visibility_ratio: null, rpki_state: null, is_moas: null },
      { prefix: "198.51.100.0/24", visibility_ratio: 0.1, rpki_state: null, is_moas: false },
    ]);
  });

  test("the whole address space is counted without overflow", () => {
    const routes = madeRoutes([
      route("0.0.0.0/1", [5, 1]),
      route("128.0.0.0/1", [5, 1]),
      route("::/1", [5, 1]),
      route("8000::/1", [5, 1]),
      route("2001:db8::/127", [5, 1]),
    ]);
    const record = ask(madeGeneration({ routes })).asn(5, { aggregate: true });
    expect(record.counts).toMatchObject({
      ipv4: { addresses: 2 ** 32, prefixes_aggregated: 1 },
      ipv6: { slash48s: 2 ** 48, prefixes_aggregated: 1 },
    });
    expect(record.prefixes.items.map((item) => item.prefix)).toEqual(["0.0.0.0/0", "::/0"]);
  });
});
