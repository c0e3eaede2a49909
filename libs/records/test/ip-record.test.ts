/** `/ip`: registration, routing and RPKI of an address, case by case (docs/design/semantics.md). */

import { describe, expect, test } from "@jest/globals";
import { madeAllocations, madeRoutes, route } from "../../snapshot/test/support/made-sections.ts";
import { madeGeneration } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { ask, now } from "./support/checked.ts";

const generation = madeGeneration(world);
const { ip } = ask(generation);

test("tells everything of an announced, registered and valid address", () => {
  const { meta, warnings, ...record } = ip("193.0.6.139");
  expect(record).toEqual({
    ip: "193.0.6.139",
    version: 4,
    special_purpose: null,
    is_global: true,
    allocation: {
      registry: "ripencc",
      status: "assigned",
      registration_country: "NL",
      block: { start: "193.0.0.0", end: "193.0.7.255", cidrs: ["193.0.0.0/21"] },
      allocated_on: "1993-09-01",
      conflicts: [],
      holder: { id: "h1", asns: [100, 3333], asn_count: 2, name: "HUNDRED", basis: "delegated-extended:opaque-id+as-names" },
    },
    country_flag: { country: "NL", name: "Netherlands", emoji: "🇳🇱", svg_url: "/flags/nl.svg" },
    routing: {
      announced: true,
      prefix: "193.0.0.0/21",
      moas: { is_moas: false, origin_count: 1 },
      visibility: { peers_seeing: 9, peers_total: 10, ratio: 0.9, partial_peers_seeing: 4 },
      origins: [
        {
          asn: 3333,
          name: "RIPE-NCC-AS",
          special_purpose: null,
          same_holder_as_allocation: true,
          visibility: { peers_seeing: 9, peers_total: 10, ratio: 0.9, partial_peers_seeing: 4 },
          rpki_state: "valid",
        },
      ],
      as_set_origins: [],
      low_visibility_matches: [],
    },
    rpki: { state: "valid", reason: null, mixed: false, by_state: { valid: { origins: 1, peers_seeing: 9 } }, covering_vrps: 1 },
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
    location: {
      country: "NL",
      region: "NL-NH",
      city: "Amsterdam",
      latitude: null,
      longitude: null,
      radius_km: null,
      basis: "geofeed",
      confidence: null,
      observations: 0,
      last_observed_at: null,
      outliers: null,
      agrees_with_registration: true,
    },
    links: {
      routing: "/api/v1/routing/193.0.6.139",
      prefix: "/api/v1/prefix/193.0.0.0/21",
      asn: ["/api/v1/asn/AS3333"],
      reverse_dns: "/api/v1/reverse-dns/193.0.6.139",
    },
  });
  expect(warnings).toEqual([]);
  expect(Object.keys(meta.data).slice(0, 3)).toEqual(["allocations", "routes", "vrps"]);
  expect(meta.data.routes).toEqual({
    version: "1",
    as_of: "2026-11-21T08:55:00Z",
    age_seconds: 302,
    stale: false,
    peers_total: { ipv4: 10, ipv6: 10 },
    collectors: ["rrc00"],
  });
  expect(meta.generated_at).toBe("2026-11-21T09:00:02Z");
});

test.each<[string, string, unknown]>([
  ["a prefix that the operator lists", "193.0.4.9", { type: "office", basis: "operator:network-types", confidence: 1 }],
  ["the most specific one", "11.0.0.1", { type: "access", basis: "operator:network-types", confidence: 0.7 }],
  ["one that nobody announces", "9.9.9.9", { type: "test", basis: "operator:network-types", confidence: 1 }],
  ["the origin as the operator lists it", "21.0.0.1", { type: "hosting", basis: "operator:network-types", confidence: 1 }],
  ["the first origin of which anything is told", "14.0.0.1", { type: "content", basis: "peeringdb:net.info_type", confidence: 0.5 }],
  ["nothing", "20.0.0.1", null],
])("takes the network type from %s", (_what, address, expected) => {
  expect(ip(address).network_type).toEqual(expected);
});

describe("the location", () => {
  const { locations: _, ...noLocations } = world;

  test.each<[string, string, object | null, string | null]>([
    ["of the most specific prefix, which agrees", "193.0.4.1", { country: "NL", agrees_with_registration: true }, "NL"],
    ["that the network does not give, inside a prefix that has one", "193.0.7.1", null, "NL"],
    ["that nobody gives", "193.0.3.1", null, "NL"],
    ["in another country than the registration", "11.0.0.1", { country: "DE", city: null, agrees_with_registration: false }, "DE"],
    ["where the registration is of a region", "20.0.2.1", { country: "FR", region: null, agrees_with_registration: null }, "FR"],
    ["of a city without a country", "9.9.9.9", { country: null, city: "Springfield", agrees_with_registration: null }, null],
    ["of an IPv6 address", "2a00:1:1::1", { country: "JP", region: "JP-13", city: "Tokyo", agrees_with_registration: false }, "JP"],
  ])("%s", (_what, address, expected, flag) => {
    const record = ip(address);
    if (expected === null) expect(record.location).toBeNull();
    else expect(record.location).toMatchObject({ ...expected, basis: "geofeed", observations: 0, confidence: null });
    expect(record.country_flag?.country ?? null).toBe(flag);
    expect(record.meta.data.locations).toMatchObject({ stale: false });
  });

  test("that was observed, with coordinates or without, with names or without", () => {
    expect(ip("193.0.5.1").location).toEqual({
      country: "NL",
      region: "NL-NH",
      city: "Amsterdam",
      latitude: 52.37,
      longitude: 4.9,
      radius_km: 10,
      basis: "observation",
      confidence: 0.93,
      observations: 41,
      last_observed_at: "2025-11-20T22:14:05Z",
      outliers: {
        observations: 4,
        items: [
          { country: "DE", region: "DE-BE", city: "Berlin", distance_km: 577, observations: 3, last_observed_on: "2025-07-31" },
          { country: "FR", region: null, city: null, distance_km: null, observations: 1, last_observed_on: "2025-11-08" },
        ],
      },
      agrees_with_registration: true,
    });
    expect(ip("11.1.2.3")).toMatchObject({
      country_flag: { country: "FR" },
      location: {
        latitude: null,
        radius_km: null,
        observations: 1,
        outliers: { observations: 0, items: [] },
        agrees_with_registration: false,
      },
    });
    expect(ip("14.0.0.1")).toMatchObject({
      country_flag: null,
      location: { country: null, city: null, latitude: -33.8688, longitude: 151.2093, agrees_with_registration: null },
    });
  });

  test("is null without the section, and the flag is that of the registration", () => {
    const record = ask(madeGeneration(noLocations)).ip("11.0.0.1");
    expect(record).toMatchObject({ location: null, country_flag: { country: "US" }, warnings: [] });
    expect(record.meta.data.locations).toBeUndefined();
  });
});

test("tells a rival record of another registry as a conflict", () => {
  expect(ip("193.0.0.1").allocation).toMatchObject({
    registry: "ripencc",
    conflicts: [
      { registry: "apnic", status: "reserved", registration_country: "AP", block: { cidrs: ["193.0.0.0/24"] }, allocated_on: null },
    ],
  });
});

test("a block that is no power of two has several CIDRs; EU has a flag, no country has none", () => {
  expect(ip("20.0.1.1").allocation?.block).toEqual({ start: "20.0.0.0", end: "20.0.2.255", cidrs: ["20.0.0.0/23", "20.0.2.0/24"] });
  expect(ip("20.0.1.1").country_flag).toEqual({ country: "EU", name: "European Union", emoji: "🇪🇺", svg_url: "/flags/eu.svg" });
  expect(ip("20.0.4.1").country_flag).toBeNull();
  expect(ip("20.0.4.1").allocation).toMatchObject({ registration_country: null, holder: null });
});

describe("an address that no route but a default one holds", () => {
  test("is not announced, and says why", () => {
    const record = ip("203.1.0.1");
    expect(record.routing).toEqual({
      announced: false,
      prefix: null,
      moas: { is_moas: false, origin_count: 0 },
      visibility: null,
      origins: [],
      as_set_origins: [],
      low_visibility_matches: [],
    });
    expect(record.rpki).toEqual({ state: null, reason: null, mixed: false, by_state: {}, covering_vrps: 0 });
    expect(record.links.prefix).toBeNull();
    // Beside a full table, a default route is no news about one address.
    expect(record.warnings).toEqual([]);
  });

  test("says so where no peer has a full table, and never of special-purpose space", () => {
    const few = (sampleData: boolean) => ask(madeGeneration({ ...world, sampleData, peersTotal: { ipv4: 0, ipv6: 10 } }));
    const { ip: asked } = few(false);
    const defaultOf = (text: string) => asked(text).warnings.includes("default_route_only");
    expect(["203.1.0.1", "127.0.0.1", "192.88.99.1", "2a01::1"].map(defaultOf)).toEqual([true, false, false, false]);
    expect(few(false).routing("203.1.0.1").warnings).toEqual(["default_route_only"]);
    // Of a sample it is not even known whether the address is announced.
    expect(few(true).ip("203.1.0.1")).toMatchObject({ routing: { announced: null }, warnings: ["sample_data"] });
  });

  test("still counts the VRPs that cover it", () => {
    const { rpki, warnings } = ask(madeGeneration({ ...world, routes: undefined as never, names: world.names })).ip("193.0.0.1");
    expect(rpki.covering_vrps).toBe(2);
    expect(warnings).toEqual(["routes_unavailable"]);
  });
});

describe("which route is the match", () => {
  test("one that too few full-feed peers see does not replace the answer", () => {
    const record = ip("11.1.2.3");
    expect(record.routing.prefix).toBe("11.1.0.0/16");
    expect(record.routing.low_visibility_matches).toEqual([
      {
        prefix: "11.1.2.0/24",
        origins: [200],
        as_set_origins: [],
        visibility: { peers_seeing: 1, peers_total: 10, ratio: 0.1, partial_peers_seeing: 2 },
      },
    ]);
    expect(record.warnings).toContain("low_visibility");
  });

  test("where full-feed peers are few, any peer will do", () => {
    const { ip: few } = ask(madeGeneration({ ...world, peersTotal: { ipv4: 9, ipv6: 9 } }));
    expect(few("11.1.2.3").routing.prefix).toBe("11.1.2.0/24");
    expect(few("11.1.2.3").warnings).toEqual([]);
  });

  test("the longest of all answers when few see every one, with a warning below 3 % of many peers", () => {
    expect(ip("22.0.0.1").routing).toMatchObject({
      prefix: "22.0.0.0/8",
      visibility: { peers_seeing: 0, ratio: 0, partial_peers_seeing: 3 },
    });
    expect(ip("22.0.0.1").warnings).toEqual(["low_visibility"]);
  });

  test("exactly 3 % of the full-feed peers is not below 3 %", () => {
    const peers = (total: number) => ask(madeGeneration({ ...world, peersTotal: { ipv4: total, ipv6: 10 } })).ip("193.0.0.1").warnings;
    expect(peers(300)).toEqual([]);
    expect(peers(301)).toEqual(["low_visibility"]);
  });
});

describe("RPKI in one word", () => {
  test("is that of the origin which most full-feed peers see; valid and invalid together are mixed", () => {
    const { rpki, routing, warnings } = ip("11.1.0.1");
    expect(rpki).toEqual({
      state: "valid",
      reason: null,
      mixed: true,
      by_state: { valid: { origins: 1, peers_seeing: 8 }, invalid: { origins: 1, peers_seeing: 3 } },
      covering_vrps: 1,
    });
    expect(routing.moas).toEqual({ is_moas: true, origin_count: 2 });
    expect(routing.origins.map(({ asn, rpki_state }) => [asn, rpki_state])).toEqual([
      [100, "valid"],
      [200, "invalid"],
    ]);
    expect(warnings).toEqual(["rpki_mixed"]);
  });

  test("of two origins that as many see, the worse counts", () => {
    expect(ip("14.0.0.1").rpki).toMatchObject({ state: "invalid", reason: "as", mixed: true });
  });

  test("an AS_SET alone gives the state: invalid where a VRP covers", () => {
    const { routing, rpki } = ip("12.0.0.1");
    expect(rpki).toEqual({
      state: "invalid",
      reason: "as",
      mixed: false,
      by_state: { invalid: { origins: 1, peers_seeing: 5 } },
      covering_vrps: 1,
    });
    expect(routing.origins).toEqual([]);
    expect(routing.moas).toEqual({ is_moas: false, origin_count: 0 });
    expect(routing.as_set_origins).toMatchObject([{ as_set: [300, 301], rpki: { state: "invalid", notes: ["as_set"] } }]);
  });

  test("an AS_SET beside an AS counts in by_state and not in the state", () => {
    expect(ip("13.0.0.1").rpki).toEqual({
      state: "not-found",
      reason: null,
      mixed: false,
      by_state: { not_found: { origins: 2, peers_seeing: 6 } },
      covering_vrps: 0,
    });
  });

  test("a VRP of AS 0 never matches, not even the origin AS 0", () => {
    expect(ip("19.0.0.1").rpki).toMatchObject({ state: "invalid", reason: "as" });
  });
});

test("an origin that no path names is null", () => {
  expect(ip("17.0.0.1").routing.origins).toMatchObject([{ asn: null, name: null, rpki_state: "not-found" }]);
  expect(ip("17.0.0.1").links.asn).toEqual([]);
});

describe("bogons", () => {
  test.each([
    ["10.1.0.1", "private space"],
    ["15.0.0.1", "a special-purpose origin"],
    ["16.0.0.1", "space that its registry calls available"],
  ])("%s is announced from %s", (text) => {
    expect(ip(text).warnings).toEqual(["bogon_announced"]);
  });

  test("AS112 originates what it is there for", () => {
    const routes = madeRoutes([route("192.175.48.0/24", [112, 9])]);
    const made = ask(madeGeneration({ ...world, routes }));
    expect(made.ip("192.175.48.1")).toMatchObject({ is_global: true, routing: { origins: [{ asn: 112 }] }, meta: { warnings: [] } });
    expect(made.asn(112)).toMatchObject({ announced: true, special_purpose: { rfc: "RFC7534" }, meta: { warnings: [] } });
  });

  test.each([
    ["192.88.99.0/24", "192.88.99.1", "192.88.99.0/24 is in Deprecated (6to4 Relay Anycast) space (RFC7526)"],
    ["224.0.0.0/24", "224.0.0.1", "224.0.0.0/24 is in Multicast space (RFC5771)"],
    ["4000::/16", "4000::1", "4000::/16 is in unassigned space"],
  ])("%s is announced from space that is not global", (announced, address, detail) => {
    const record = ask(madeGeneration({ ...world, routes: madeRoutes([route(announced, [100, 9])]) })).ip(address);
    expect(record).toMatchObject({ is_global: false, meta: { warnings: [{ code: "bogon_announced", detail }] } });
  });
});

describe("special-purpose space", () => {
  test("is told with its block and reach", () => {
    expect(ip("10.2.0.1")).toMatchObject({
      special_purpose: { name: "Private-Use", rfc: "RFC1918", block: "10.0.0.0/8", globally_reachable: false },
      is_global: false,
    });
    expect(ip("192.0.0.9")).toMatchObject({ special_purpose: { block: "192.0.0.9/32", globally_reachable: true }, is_global: true });
    expect(ip("192.88.99.1")).toMatchObject({ special_purpose: { globally_reachable: null }, is_global: false });
    expect(ip("ff02::1")).toMatchObject({ special_purpose: { name: "Multicast" }, is_global: false });
  });

  test("of unlisted IPv6 only 2000::/3 is global", () => {
    expect(ip("2a00::1")).toMatchObject({ special_purpose: null, is_global: true });
    expect(ip("4000::1")).toMatchObject({ special_purpose: null, is_global: false });
  });

  test.each([
    ["::ffff:193.0.0.1", "193.0.0.1"],
    ["2002:c100:1::1", "193.0.0.1"],
    ["64:ff9b::c100:1", "193.0.0.1"],
    ["2001:0:0:1::3eff:fffe", "193.0.0.1"],
  ])("%s is answered as IPv6, with a link to %s inside", (text, embedded) => {
    const record = ip(text);
    expect(record).toMatchObject({ version: 6, embedded_ipv4: embedded, allocation: null });
    expect(record.links.embedded_ipv4).toBe(`/api/v1/ip/${embedded}`);
  });

  test("other addresses have no such member", () => {
    expect("embedded_ipv4" in ip("193.0.0.1")).toBe(false);
    expect("embedded_ipv4" in ip("193.0.0.1").links).toBe(false);
  });
});

describe("what is not imported", () => {
  test("without VRPs every state is null, with a warning, never not-found", () => {
    const { vrps: _, ...others } = world;
    const record = ask(madeGeneration(others)).ip("12.0.0.1");
    expect(record.rpki).toEqual({ state: null, reason: null, mixed: null, by_state: {}, covering_vrps: null });
    expect(record.routing.as_set_origins[0]?.rpki).toEqual({
      state: null,
      reason: null,
      description: null,
      vrps: { matched: [], unmatched_as: [], unmatched_length: [] },
      notes: [],
    });
    expect(record.warnings).toEqual(["vrps_unavailable"]);
    expect(record.meta.data.vrps).toBeUndefined();
  });

  test("without routes it is not known whether it is announced", () => {
    const { routes: _, ...others } = world;
    const record = ask(madeGeneration(others)).ip("193.0.0.1");
    expect(record.routing).toMatchObject({ announced: null, prefix: null, moas: { is_moas: null, origin_count: null } });
    expect(record.warnings).toEqual(["routes_unavailable"]);
  });

  test("without anything there are nulls and warnings", () => {
    const record = ask(madeGeneration({})).ip("193.0.0.1");
    expect(record).toMatchObject({ allocation: null, country_flag: null, is_global: true });
    expect(record.warnings.sort()).toEqual(["allocations_unavailable", "routes_unavailable", "vrps_unavailable"]);
  });

  test("a holder in another registry's file is not known to be the same or another", () => {
    expect(ip("11.0.0.1").routing.origins[0]).toMatchObject({ asn: 100, same_holder_as_allocation: null });
    expect(ip("11.1.0.1").routing.origins.map(({ same_holder_as_allocation }) => same_holder_as_allocation)).toEqual([null, true]);
    expect(ip("12.0.0.1").routing.as_set_origins).toHaveLength(1);
  });

  test("a holder in another file of the same registry is not known to be the same or another", () => {
    const oneFile = madeAllocations([{ start: "11.0.0.0", end: "11.255.255.255", holder: "a" }], [{ first: 100, holder: "b" }]);
    const sameHolder = (holder_file: Uint32Array) =>
      ask(madeGeneration({ ...world, allocations: { ...oneFile, holder_file } })).ip("11.0.0.1").routing.origins[0]
        ?.same_holder_as_allocation;
    expect(sameHolder(oneFile.holder_file)).toBe(false);
    expect(sameHolder(Uint32Array.of(0, 1))).toBeNull();
    // A snapshot of an earlier writer.
    expect(sameHolder(new Uint32Array())).toBe(false);
  });
});

describe("the sample dataset", () => {
  const sample = { ...world, sampleData: true, peersTotal: { ipv4: 10, ipv6: 0 } };

  test("warns with its dates", () => {
    const record = ask(madeGeneration(sample)).ip("193.0.0.1");
    expect(record.meta.warnings).toEqual([{ code: "sample_data", detail: expect.stringContaining("routes of 2026-11-21") }]);
  });

  test("what its files do not cover is null, not false", () => {
    const { ip: asked } = ask(madeGeneration({ ...sample, routes: world.routes }));
    expect(asked("203.1.0.1").routing.announced).toBe(false);
    expect(asked("2a01::1")).toMatchObject({
      routing: { announced: null, moas: { is_moas: null, origin_count: null } },
      rpki: { mixed: null },
    });
    expect(asked("2a00:1::1").routing).toMatchObject({ announced: true, visibility: { peers_total: 0, ratio: null } });
  });
});

test("a section older than its bound is stale, and says so", () => {
  const entry = { stale_after_seconds: 302, interval_seconds: 400 };
  const stale = (nowMs: number) => ask(madeGeneration({ ...world, entry }), nowMs).ip("193.0.0.1");
  expect(stale(now).warnings).toEqual([]);
  expect(stale(now + 1000).warnings).toEqual(expect.arrayContaining(["routes_stale", "vrps_stale", "allocations_stale"]));
  expect(stale(now + 1000).meta.data.routes).toMatchObject({ age_seconds: 303, stale: true });
});
