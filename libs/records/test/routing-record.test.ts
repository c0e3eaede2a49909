/** `/routing` and `/validity`: origins explained, the verdict's lists and notes, what lies around. */

import { describe, expect, test } from "@jest/globals";
import { madeRoutes, madeVrps, route } from "../../snapshot/test/support/made-sections.ts";
import { madeAsOf, madeGeneration, madeOverlay } from "../../snapshot/test/support/made-snapshot.ts";
import { world } from "../../snapshot/test/support/made-world.ts";
import { prefix } from "../../snapshot/test/support/text.ts";
import { ask, now } from "./support/checked.ts";

const generation = madeGeneration(world);
const { routing, validity } = ask(generation);

test("explains every origin, in its place", () => {
  const { meta, warnings, ...record } = routing("193.0.6.139");
  expect(record).toEqual({
    ip: "193.0.6.139",
    announced: true,
    match: { prefix: "193.0.0.0/21", type: "longest" },
    visibility: { peers_seeing: 9, peers_total: 10, ratio: 0.9, partial_peers_seeing: 4 },
    origins: [
      {
        asn: 3333,
        name: "RIPE-NCC-AS",
        registration_country: "NL",
        special_purpose: null,
        same_holder_as_allocation: true,
        visibility: { peers_seeing: 9, peers_total: 10, ratio: 0.9, partial_peers_seeing: 4 },
        first_seen_at: null,
        last_seen_at: null,
        rpki: {
          state: "valid",
          reason: null,
          description: expect.any(String),
          vrps: {
            matched: [{ asn: 3333, prefix: "193.0.0.0/21", max_length: 21, ta: "ripe", expires_at: "2026-11-22T08:55:01Z" }],
            unmatched_as: [],
            unmatched_length: [],
          },
          notes: [],
        },
      },
    ],
    as_set_origins: [],
    low_visibility_matches: [],
    moas: { is_moas: false, origin_count: 1 },
    rpki: { state: "valid", reason: null, mixed: false, by_state: { valid: { origins: 1, peers_seeing: 9 } }, covering_vrps: 1 },
    less_specifics: [],
  });
  expect(warnings).toEqual([]);
  expect(Object.keys(meta.data)).toEqual(["allocations", "routes", "vrps", "as_names"]);
});

describe("when an origin was seen", () => {
  const [first, middle, last] = [1_700_000_000, 1_750_000_000, 1_763_712_000];
  const routes = madeRoutes(
    [
      {
        prefix: prefix("192.0.2.0/24"),
        origins: [
          { origin: 64500, full: 9, seen: [first, last] },
          { origin: 64501, full: 2, seen: [middle, middle] },
          { origin: null, full: 1 },
        ],
      },
      { prefix: prefix("198.51.100.0/24"), origins: [{ origin: 64500, full: 3, seen: [middle, last] }] },
    ],
    undefined,
    { 64500: [first, last], 64501: [middle, middle] },
  );
  const times = (record: ReturnType<typeof routing>) => record.origins.map((one) => [one.asn, one.first_seen_at, one.last_seen_at]);

  test("stands beside each origin that has a number, and is not known of one that has none", () => {
    expect(times(ask(madeGeneration({ ...world, routes })).routing("192.0.2.1"))).toEqual([
      [64500, "2023-11-14T22:13:20Z", "2025-11-21T08:00:00Z"],
      [64501, "2025-06-15T15:06:40Z", "2025-06-15T15:06:40Z"],
      [null, null, null],
    ]);
  });

  test("is of the same origin of the section where the route changed since", () => {
    const columns = madeRoutes([route("192.0.2.0/24", [64501, 9], [64502, 9]), route("203.0.113.0/24", [64500, 9])]);
    const { routing } = ask(madeGeneration({ ...world, routes }, madeOverlay(columns)));
    expect(times(routing("192.0.2.1"))).toEqual([
      [64501, "2025-06-15T15:06:40Z", "2025-06-15T15:06:40Z"],
      [64502, null, null],
    ]);
    expect(times(routing("203.0.113.1"))).toEqual([[64500, null, null]]);
    expect(times(routing("198.51.100.1"))).toEqual([[64500, "2025-06-15T15:06:40Z", "2025-11-21T08:00:00Z"]]);
  });
});

test("an unannounced address matches nothing, and its covering VRPs are counted", () => {
  const { meta: _, warnings, ...record } = routing("203.1.0.1", { moreSpecifics: true });
  expect(record).toEqual({
    ip: "203.1.0.1",
    announced: false,
    match: { prefix: null, type: "none" },
    visibility: null,
    origins: [],
    as_set_origins: [],
    low_visibility_matches: [],
    moas: { is_moas: false, origin_count: 0 },
    rpki: { state: null, reason: null, mixed: false, by_state: {}, covering_vrps: 0 },
    less_specifics: [],
    more_specifics: { count: 0, items: [], truncated: false },
  });
  expect(warnings).toEqual([]);
});

test("covering routes stand the most specific first, without default routes", () => {
  expect(routing("11.1.0.1").less_specifics).toEqual([
    { prefix: "11.0.0.0/8", origins: [100], as_set_origins: [], rpki_state: "not-found", visibility_ratio: 1 },
  ]);
});

test("more specifics and upstreams stand only where they were asked for", () => {
  expect("more_specifics" in routing("11.0.0.1")).toBe(false);
  expect("upstreams" in (routing("11.0.0.1").origins[0] ?? {})).toBe(false);
  const record = routing("11.0.0.1", { moreSpecifics: true, upstreams: true });
  expect(record.origins[0]?.upstreams).toBeNull();
  expect(record.more_specifics).toMatchObject({ count: 2, truncated: false });
  expect(record.more_specifics?.items.map(({ prefix }) => prefix)).toEqual(["11.1.0.0/16", "11.1.2.0/24"]);
});

test("upstreams have their share of the paths to the prefix and origin; an origin that no path names has none known", () => {
  const made = madeRoutes(
    [
      {
        prefix: prefix("11.0.0.0/8"),
        origins: [
          {
            origin: 100,
            full: 5,
            paths: 8,
            upstreams: [
              [3333, 5],
              [77, 2],
            ],
          },
          { origin: 200, full: 1, paths: 1 },
          { origin: null, full: 1 },
        ],
      },
    ],
    [],
  );
  const { origins } = ask(madeGeneration({ ...world, routes: made })).routing("11.0.0.1", { upstreams: true });
  expect(origins.map(({ asn, upstreams }) => [asn, upstreams])).toEqual([
    [
      100,
      [
        { asn: 3333, name: "RIPE-NCC-AS", paths: 5, share: 0.625 },
        { asn: 77, name: null, paths: 2, share: 0.25 },
      ],
    ],
    [200, []],
    [null, null],
  ]);
});

test("a list longer than its limit is cut, and says so", () => {
  const record = routing("11.0.0.1", { moreSpecifics: true, limit: 1 });
  expect(record.more_specifics).toMatchObject({ count: 2, truncated: true });
  expect(record.more_specifics?.items).toHaveLength(1);
  expect(record.warnings).toEqual(["truncated"]);
  expect(routing("11.0.0.1", { moreSpecifics: true, limit: 2 }).warnings).toEqual([]);
});

describe("the notes of a verdict", () => {
  const notes = (text: string, nowMs = now) =>
    ask(generation, nowMs)
      .routing(text)
      .origins.flatMap(({ rpki }) => rpki.notes);

  test("no VRP names the origin", () => {
    expect(notes("14.0.0.1")).toEqual(["no_vrp_for_origin"]);
    expect(notes("20.0.0.1")).toEqual([]);
  });

  test("only AS 0 covers", () => {
    expect(notes("19.0.0.1")).toEqual(["no_vrp_for_origin", "only_as0_covers"]);
  });

  test("a VRP that has expired", () => {
    expect(notes("21.0.0.1")).toEqual(["expired"]);
    expect(notes("18.0.0.1")).toEqual(["expires_soon", "max_length_loose"]);
  });

  test("a VRP that expires within 2 hours of the section's time, and not one that expires later", () => {
    const expiring = (afterSeconds: number) => {
      const expiresAt = Date.parse(madeAsOf) / 1_000 + afterSeconds;
      const made = madeGeneration({ ...world, vrps: madeVrps([{ prefix: "193.0.0.0/21", asn: 3333, expiresAt }]) });
      return ask(made, Date.parse(madeAsOf)).routing("193.0.0.1").origins[0]?.rpki.notes;
    };
    expect([60, 7_200, 7_201, 86_400].map(expiring)).toEqual([["expires_soon"], ["expires_soon"], [], []]);
  });

  test("an AS_SET", () => {
    expect(routing("12.0.0.1").as_set_origins[0]?.rpki.notes).toEqual(["as_set"]);
  });
});

test("a VRP that allows shorter prefixes only makes the route invalid by length, whatever its AS", () => {
  expect(routing("20.0.0.1").origins[0]?.rpki).toMatchObject({
    state: "invalid",
    reason: "length",
    vrps: { matched: [], unmatched_as: [], unmatched_length: [{ asn: 900, prefix: "20.0.0.0/7" }] },
  });
  expect(validity(1, "20.0.0.0/8").rpki).toMatchObject({ state: "invalid", reason: "length" });
});

describe("/validity", () => {
  test.each([
    [3333, "193.0.0.0/21", "valid", null],
    [3333, "193.0.0.0/24", "valid", null],
    [3333, "193.0.0.0/23", "invalid", "length"],
    [1, "193.0.0.0/24", "invalid", "as"],
    [0, "19.0.0.0/8", "invalid", "as"],
    [3333, "2a00:1::/32", "not-found", null],
    [4_294_967_295, "8.8.8.0/24", "not-found", null],
  ])("AS%i and %s are %s", (asn, prefix, state, reason) => {
    expect(validity(asn, prefix)).toMatchObject({ route: { asn, prefix }, rpki: { state, reason } });
  });

  test("knows nothing without VRPs", () => {
    const record = ask(madeGeneration({ routes: world.routes })).validity(1, "193.0.0.0/24");
    expect(record.rpki).toMatchObject({ state: null, description: null });
    expect(record.warnings).toEqual(["vrps_unavailable"]);
  });
});

test("a list of a prefix's VRPs is the same whichever order they came in", () => {
  const vrps = [
    { prefix: "11.0.0.0/8", asn: 100, maxLength: 16 },
    { prefix: "11.0.0.0/8", asn: 7, maxLength: 8 },
    { prefix: "11.0.0.0/8", asn: 9, maxLength: 16 },
  ];
  const routes = madeRoutes([route("11.0.0.0/8", [100, 5])]);
  const lists = [vrps, [...vrps].reverse()].map(
    (made) => ask(madeGeneration({ routes, vrps: madeVrps(made) })).routing("11.0.0.1").origins[0]?.rpki.vrps,
  );
  expect(lists[0]).toEqual(lists[1]);
  expect(lists[0]?.unmatched_as.map(({ asn }) => asn)).toEqual([7, 9]);
});
