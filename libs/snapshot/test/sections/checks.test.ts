/** The checks of each section: a value that would lead outside its columns, or make no sense, never gets into service. */

import { describe, expect, test } from "@jest/globals";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import {
  type ColumnSpec,
  type Columns,
  decodeColumns,
  encodeColumns,
  Generation,
  kindOf,
  type LoadedSnapshot,
  linkSeen,
  loadSection,
  locationsFormat,
  pathsFormat,
  routesFormat,
  type SectionColumns,
  type SectionFormat,
  type SectionName,
  sectionNames,
} from "../../src/index.ts";
import {
  madeAllocations,
  madeAspas,
  madeLocations,
  madeNames,
  madeNetworkTypes,
  madeProfiles,
  madeRoutes,
  madeVrps,
  route,
} from "../support/made-sections.ts";
import { madeManifest, shared } from "../support/made-snapshot.ts";
import { address, prefix } from "../support/text.ts";

const routes = madeRoutes(
  [
    route("0.0.0.0/0", [1, 1]),
    {
      prefix: prefix("192.0.2.0/24"),
      origins: [
        { origin: 64500, full: 3, seen: [1_700_000_000, 1_763_712_000] },
        { origin: [64501, 64502], full: 2 },
      ],
    },
    route("192.0.2.128/25", [64501, 1], [64500, 1]),
    { prefix: prefix("198.51.100.0/24"), origins: [{ origin: null, full: 1, paths: 1 }] },
    {
      prefix: prefix("2001:db8::/32"),
      origins: [
        {
          origin: 64500,
          full: 3,
          paths: 3,
          upstreams: [
            [64510, 2],
            [64501, 1],
          ],
        },
      ],
    },
    {
      prefix: prefix("2001:db8:1::/48"),
      origins: [
        { origin: 64502, full: 3, seen: [1_763_715_300, 1_763_715_300] },
        { origin: [7], full: 1 },
      ],
    },
  ],
  [
    [64501, 64500, 1, linkSeen.ipv6],
    [64502, 64500, 3, linkSeen.ipv6],
    [64502, 64510, 2, linkSeen.ipv4 | linkSeen.within],
    [64510, 64500, 2, linkSeen.ipv4 | linkSeen.ipv6 | linkSeen.within],
  ],
  { 64500: [1_700_000_000, 1_763_712_000], 64502: [1_763_715_300, 1_763_715_300], 64503: [1_600_000_000, 1_650_000_000] },
);
const vrps = madeVrps([
  { prefix: "192.0.2.0/24", asn: 64500, maxLength: 25, ta: "ripe", expiresAt: 1_800_000_000 },
  { prefix: "192.0.2.0/24", asn: 64501, ta: null },
  { prefix: "2001:db8::/32", asn: 64500, maxLength: 48, ta: "arin", loose: true },
]);
const aspas = madeAspas([
  { customer: 64500, providers: [64501, 64502], expiresAt: 1_800_000_000 },
  { customer: 64501, providers: [], ta: null },
  { customer: 64510, providers: [0], ta: "arin" },
]);
const allocations = madeAllocations(
  [
    { start: "192.0.2.0", end: "192.0.4.255", date: 20240102, holder: "a" },
    { start: "198.51.100.0", end: "198.51.100.255", country: null, status: "reserved" },
    { start: "2001:db8::", end: "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", holder: "b", registry: "arin" },
  ],
  [
    { first: 64500, last: 64501, holder: "a" },
    { first: 64510, country: "EU" },
  ],
);
const names = madeNames({ 64500: "ALPHA", 64501: "BETA" });
const profiles = madeProfiles({
  64500: {
    organisation: "Alpha",
    country: "NL",
    networkType: { type: "nsp", basis: "peeringdb:net.info_type", confidence: 0.5, also: ["content"] },
  },
  64501: { website: "https://beta.example" },
});
const networkTypes = madeNetworkTypes({
  "192.0.2.0/24": "content & hosting 0.9 @cloud,Cloud,eu-1,Disk,Mail",
  "192.0.2.0/25": "tor_exit @exits",
  "2001:db8::/32": "access,vpn 0.5",
  AS64500: "content",
  AS64501: "nsp",
});

const locations = madeLocations({
  "192.0.2.0/24": "NL,NL-NH,Amsterdam",
  "192.0.2.0/25": null,
  "2001:db8::/32": ",,Berlin @52.5,13.4,10,0.9,3,1763676845 @NL,,,577,2,20300 @FR,,,,1,20400",
  "2001:db8:1::/48": "DE,, @,,,0.5,1,1763676845",
});

const columnsOf: { readonly [S in SectionName]: SectionColumns<S> } = {
  routes,
  vrps,
  aspas,
  allocations,
  as_names: names,
  profiles,
  network_types: networkTypes,
  locations,
};

type AnyArray = Uint8Array | Uint16Array | Uint32Array;

function encodeWith(section: SectionName, change: (columns: Record<string, AnyArray>) => void): Uint8Array<SharedArrayBuffer> {
  const original: Readonly<Record<string, AnyArray>> = columnsOf[section];
  const columns = Object.fromEntries(Object.entries(original).map(([name, array]) => [name, array.slice()]));
  change(columns);
  return shared(encodeColumns(kindOf(section).format, columns));
}

const isOptional = (name: string): boolean => routesFormat.optional?.some((optional) => optional === name) === true;
const refusal = /^section |^IPv[46] prefix /;

describe.each(sectionNames)("section %s", (section) => {
  test("loads as it was made", () => {
    expect(() =>
      loadSection(
        section,
        encodeWith(section, () => {}),
      ),
    ).not.toThrow();
  });

  test("is refused when any of its columns is one item short or long", () => {
    for (const name of Object.keys(columnsOf[section])) {
      const resize = (to: (length: number) => number) => (columns: Record<string, AnyArray>) => {
        const array = columns[name] as AnyArray;
        const other = new (array.constructor as Uint32ArrayConstructor)(to(array.length));
        other.set(array.subarray(0, other.length));
        columns[name] = other;
      };
      expect(() =>
        loadSection(
          section,
          encodeWith(
            section,
            resize((length) => length - 1),
          ),
        ),
      ).toThrow(refusal);
      expect(() =>
        loadSection(
          section,
          encodeWith(
            section,
            resize((length) => length + 1),
          ),
        ),
      ).toThrow(refusal);
    }
  });
});

/** Section, column, index (negative: from the end), value. */
const planted: [SectionName, string, number, number][] = [
  ["routes", "v4_address", 1, 0xc000_0201],
  ["routes", "v4_address", 3, 0],
  ["routes", "v4_length", 1, 33],
  ["routes", "v6_words", 3, 1],
  ["routes", "v6_length", 0, 129],
  ["routes", "origin_start", 0, 1],
  ["routes", "origin_start", 2, 100],
  ["routes", "origin_start", -1, 2],
  ["routes", "origin_kind", 0, 3],
  ["routes", "origin_value", 2, 2],
  ["routes", "set_start", 1, 9],
  ["routes", "as_number", 1, 0xffff_ffff],
  ["routes", "as_number", 0, 64501],
  ["routes", "as_start", 1, 0xffff_ffff],
  ["routes", "as_origin", 0, 0xffff_ffff],
  ["routes", "as_origin", 0, 2],
  ["routes", "as_entry", 0, 0xffff_ffff],
  ["routes", "as_entry", 0, 4],
  ["routes", "upstream_start", 1, 0xffff_ffff],
  ["routes", "link_left", 0, 0xffff_ffff],
  ["routes", "link_right", 0, 0xffff_ffff],
  ["routes", "link_by_right", 0, 4],
  ["routes", "link_by_right", 0, 3],
  ["routes", "origin_first_seen", 1, 1_763_712_001],
  ["routes", "origin_first_seen", 1, 0],
  ["routes", "origin_first_seen", 0, 1],
  ["routes", "origin_last_seen", 1, 3],
  ["routes", "origin_last_seen", 1, 0],
  ["routes", "seen_time", 0, 1_763_712_000],
  ["routes", "seen_as", 0, 64502],
  ["routes", "seen_as_first", 2, 0],
  ["routes", "seen_as_last", 2, 1_599_999_999],
  ["vrps", "v4_address", 0, 1],
  ["vrps", "v4_length", 0, 40],
  ["vrps", "v6_words", 1, 1],
  ["vrps", "v6_length", 0, 255],
  ["vrps", "vrp_start", 1, 3],
  ["vrps", "vrp_start", -1, 0xffff_ffff],
  ["vrps", "max_length", 0, 23],
  ["vrps", "max_length", 0, 33],
  ["vrps", "max_length", 2, 129],
  ["vrps", "ta", 0, 2],
  ["vrps", "ta", 0, 254],
  ["vrps", "loose", 0, 2],
  ["vrps", "ta_start", 1, 0xffff_ffff],
  ["vrps", "as_number", 0, 64501],
  ["aspas", "customer", 0, 64501],
  ["aspas", "provider_start", 1, 9],
  ["aspas", "provider", 0, 64502],
  ["aspas", "ta", 0, 2],
  ["aspas", "ta_start", 1, 0xffff_ffff],
  ["allocations", "v4_address", 0, 0xffff_ffff],
  ["allocations", "v4_length", 0, 33],
  ["allocations", "v6_words", 3, 1],
  ["allocations", "v6_length", 0, 200],
  ["allocations", "cidr_start", 1, 0xffff_ffff],
  ["allocations", "cidr_record", 0, 3],
  ["allocations", "ipv4_records", 0, 4],
  ["allocations", "ipv4_records", 0, 3],
  ["allocations", "record_start", 0, 0xffff_ffff],
  ["allocations", "record_start", 4, 0xc000_0100],
  ["allocations", "record_end", 0, 0],
  ["allocations", "record_end", 1, 1],
  ["allocations", "registry", 0, 6],
  ["allocations", "status", 0, 4],
  ["allocations", "country", 0, 0x4e00],
  ["allocations", "date", 0, 1],
  ["allocations", "date", 0, 20241301],
  ["allocations", "holder", 0, 2],
  ["allocations", "rank", 0, 3],
  ["allocations", "as_first", 0, 64502],
  ["allocations", "as_first", 1, 64501],
  ["allocations", "as_last", 0, 64510],
  ["allocations", "as_registry", 0, 255],
  ["allocations", "as_status", 0, 255],
  ["allocations", "as_country", 0, 1],
  ["allocations", "as_date", 0, 99999999],
  ["allocations", "as_holder", 0, 2],
  ["allocations", "holder_id_start", 1, 0xffff_ffff],
  ["allocations", "holder_as_start", 1, 0xffff_ffff],
  ["allocations", "holder_record_start", 1, 0xffff_ffff],
  ["allocations", "holder_record", 0, 3],
  ["as_names", "asn", 0, 64501],
  ["as_names", "name_start", 1, 0xffff_ffff],
  ["profiles", "asn", 0, 64501],
  ["profiles", "organisation_start", 1, 0xffff_ffff],
  ["profiles", "website_start", 1, 0xffff_ffff],
  ["profiles", "type", 0, 2],
  ["profiles", "also_start", 1, 0xffff_ffff],
  ["profiles", "also_type", 0, 255],
  ["profiles", "country", 1, 0x61],
  ["profiles", "basis", 0, 2],
  ["profiles", "confidence", 0, 101],
  ["profiles", "type_start", 1, 0xffff_ffff],
  ["network_types", "v4_address", 0, 0xffff_ffff],
  ["network_types", "v4_length", 0, 33],
  ["network_types", "v6_words", 3, 1],
  ["network_types", "v6_length", 0, 200],
  ["network_types", "prefix_type", 0, 6],
  ["network_types", "prefix_confidence", 0, 255],
  ["network_types", "as_number", 0, 64501],
  ["network_types", "as_type", 0, 6],
  ["network_types", "as_confidence", 1, 101],
  ["network_types", "type_start", 1, 0xffff_ffff],
  ["network_types", "said_start", 1, 0xffff_ffff],
  ["network_types", "said", 0, 5],
  ["network_types", "statement_confidence", 0, 101],
  ["network_types", "statement_type_start", 1, 0],
  ["network_types", "statement_type", 0, 255],
  ["network_types", "statement_text_start", 1, 2],
  ["network_types", "statement_text", 0, 9],
  ["network_types", "text_start", 1, 0xffff_ffff],
  ["locations", "v4_address", 0, 0xffff_ffff],
  ["locations", "v4_length", 0, 33],
  ["locations", "v6_words", 3, 1],
  ["locations", "v6_length", 0, 200],
  ["locations", "place", 0, 5],
  ["locations", "country", 0, 0x4e00],
  ["locations", "region_start", 1, 0xffff_ffff],
  ["locations", "city_start", 2, 0],
  ["locations", "observed_entry", 0, 3],
  ["locations", "observed_entry", 1, 4],
  ["locations", "latitude", 0, 1_800_001],
  ["locations", "latitude", 0, 0xffff_ffff],
  ["locations", "longitude", 0, 3_600_001],
  ["locations", "longitude", 1, 0],
  ["locations", "confidence", 0, 101],
  ["locations", "outlier_entry", 0, 2],
  ["locations", "outlier_start", 1, 3],
  ["locations", "outlier_place", 0, 5],
  ["locations", "outlier_km", 0, 20_039],
];

test.each(planted)("section %s is refused with %s[%i] = %i", (section, column, index, value) => {
  const plant = (columns: Record<string, AnyArray>) => {
    const array = columns[column] as AnyArray;
    array[index < 0 ? array.length + index : index] = value;
  };
  expect(() => loadSection(section, encodeWith(section, plant))).toThrow(refusal);
});

// Columns in which every value is a good one: numbers of peers, of ASes and of files, texts, times.
const free = [
  "origin_full",
  "origin_partial",
  "prefix_full",
  "prefix_partial",
  "set_member",
  "origin_paths",
  "upstream_as",
  "upstream_paths",
  "link_paths",
  "link_seen",
  "asn",
  "expires_at",
  "as_vrps",
  "ta_bytes",
  "holder_id_bytes",
  "holder_as",
  "holder_file",
  "name_bytes",
  "organisation_bytes",
  "website_bytes",
  "type_bytes",
  "text_bytes",
  "region_bytes",
  "city_bytes",
  "radius_km",
  "observations",
  "last_observed",
  "outlier_count",
  "outlier_seen",
  "outlier_day",
];

test("a bad value is planted in every column that has bad values", () => {
  const without = sectionNames.flatMap((section) =>
    Object.keys(columnsOf[section])
      .filter((column) => !free.includes(column) && !planted.some(([of, name]) => of === section && name === column))
      .map((column) => `${section}.${column}`),
  );
  expect(without).toEqual([]);
});

test("routes of a writer that told nothing of paths and history load, and tell that it is not known", () => {
  const earlier = {
    ...routesFormat,
    columns: Object.fromEntries(Object.entries(routesFormat.columns).filter(([name]) => !isOptional(name))),
  };
  const bytes = shared(encodeColumns(earlier as SectionFormat<ColumnSpec>, routes as unknown as Columns<ColumnSpec>));
  const loaded = { manifest: madeManifest({ routes }), sections: { routes: loadSection("routes", bytes) } } as LoadedSnapshot;
  const table = Generation.of(loaded).routes;
  expect(table?.origins(1)).toHaveLength(2);
  expect([table?.upstreamsOf(1, 64500), table?.neighboursOf(64500)]).toEqual([null, null]);
  expect([table?.seen(1, 64500), table?.seenAs(64500)]).toEqual([null, null]);
});

test("what writers of one type wrote loads, and says what it said; their readers find the same in what is written now", () => {
  const kinds = { network_types: networkTypes, profiles } as const;
  const made = (section: "network_types" | "profiles", format: SectionFormat<ColumnSpec>) => {
    const bytes = shared(encodeColumns(format, kinds[section] as unknown as Columns<ColumnSpec>));
    return Generation.of({ manifest: madeManifest({}), sections: { [section]: loadSection(section, bytes) } } as LoadedSnapshot);
  };
  const earlier = (section: "network_types" | "profiles"): SectionFormat<ColumnSpec> => {
    const { format } = kindOf(section);
    const columns = Object.entries(format.columns).filter(([name]) => format.optional?.includes(name) !== true);
    return { ...format, columns: Object.fromEntries(columns) };
  };
  const { networkTypes: types } = made("network_types", earlier("network_types"));
  const said = (text: string) => types?.ofAddress(address(text)).map((one) => [one.types, one.confidence, one.basis]);
  const basis = "operator:network-types";
  // Their readers look no further than the most specific entry: that of 192.0.2.0/25 says what the operator says of the prefix around it.
  expect([[...networkTypes.prefix_type], [...networkTypes.prefix_confidence]]).toEqual([
    [1, 1, 0],
    [100, 100, 50],
  ]);
  expect(said("192.0.2.1")).toEqual([[["content"], 1, basis]]);
  expect(said("192.0.2.200")).toEqual([[["content"], 1, basis]]);
  expect(said("2001:db8::1")).toEqual([[["access"], 0.5, basis]]);
  expect(types?.ofAs(64501).map((one) => one.types)).toEqual([["nsp"]]);
  expect(made("profiles", earlier("profiles")).profiles?.lookupProfile(64500)).toEqual({
    organisation: "Alpha",
    website: null,
    networkType: { type: "nsp", basis: "peeringdb:net.info_type", confidence: 0.5 },
  });
  expect(made("profiles", kindOf("profiles").format).profiles?.lookupProfile(64500)?.networkType?.also).toEqual(["content"]);
});

test("locations of a writer that kept no outliers load, and tell that they are not known; its readers find the rest in what is written now", () => {
  const optional: readonly string[] = locationsFormat.optional ?? [];
  const known = Object.entries(locationsFormat.columns).filter(([name]) => !optional.includes(name));
  const earlier: SectionFormat<ColumnSpec> = { ...locationsFormat, columns: Object.fromEntries(known) };
  const bytes = shared(encodeColumns(earlier, locations as unknown as Columns<ColumnSpec>));
  const loaded = { manifest: madeManifest({}), sections: { locations: loadSection("locations", bytes) } } as LoadedSnapshot;
  const found = Generation.of(loaded).locations?.lookupLocation(address("2001:db8::1"));
  expect(found).toMatchObject({ city: "Berlin", observed: { observations: 3, outliers: null } });
  const read = decodeColumns(earlier, encodeColumns(locationsFormat, locations));
  for (const [name] of known) expect([name, read[name]]).toEqual([name, locations[name as keyof typeof locations]]);
});

test("whatever single value is planted, a section is refused or can be read everywhere", () => {
  const plant = fc.record({
    section: fc.constantFrom(...sectionNames),
    column: fc.nat(60),
    index: fc.nat(50),
    value: fc.oneof(fc.nat(300), fc.constantFrom(0xffff_ffff, 0x7fff_ffff, 65_535)),
  });
  fc.assert(
    fc.property(plant, ({ section, column, index, value }) => {
      const bytes = encodeWith(section, (columns) => {
        const arrays = Object.values(columns);
        const array = arrays[column % arrays.length] as AnyArray;
        if (array.length > 0) array[index % array.length] = value;
      });
      let loaded: ReturnType<typeof loadSection>;
      try {
        loaded = loadSection(section, bytes);
      } catch (error) {
        expect((error as Error).message).toMatch(refusal);
        return;
      }
      readEverywhere(Generation.of({ manifest: madeManifest({}), sections: { [section]: loaded } } as LoadedSnapshot));
    }),
    { seed: seed(7), numRuns: runs(3_000) },
  );
});

/** Every read must give numbers and texts, never `undefined` or `NaN`. */
function readEverywhere({
  routes: table,
  vrps: set,
  aspas: authorized,
  allocations: registered,
  names: named,
  profiles: told,
  networkTypes: typed,
  locations: located,
}: Generation): void {
  const whole = [prefix("0.0.0.0/0"), prefix("::/0")];
  const seen: unknown[] = [];
  if (table !== null)
    for (let entry = 0; entry < table.prefixes.base.size; entry++)
      seen.push(
        table.prefixes.prefixAt(entry),
        table.origins(entry),
        table.prefixCounts(entry),
        table.originatedBy(64500),
        table.upstreamsOf(entry, 64500),
        table.neighboursOf(64500),
        table.seen(entry, 64500),
        table.seenAs(64503),
      );
  if (set !== null) seen.push(whole.flatMap((all) => set.moreSpecifics(all)));
  if (authorized !== null) for (const asn of [64500, 64501, 64510, 1]) seen.push(authorized.lookupAspa(asn));
  if (registered !== null) {
    for (const { records } of whole.map((all) => registered.relation(all)))
      for (const record of records.slice(0, records.length)) seen.push(registered.entry(record));
    for (const asn of [64500, 64501, 64510, 1]) {
      const entry = registered.asn(asn);
      if (entry?.holder != null) seen.push({ ...registered.holder(entry.holder) });
    }
    seen.push(registered.recordsAt(address("192.0.2.1")));
  }
  if (told !== null) seen.push([...told.entries()]);
  if (typed !== null) seen.push([...typed.prefixes()], [...typed.asns()], typed.ofAddress(address("192.0.2.1")), [...typed.rows()]);
  if (located !== null) seen.push([...located.records()], located.lookupLocation(address("192.0.2.1")));
  if (named !== null) seen.push(named.lookupName(64500), named.lookupName(64501));
  expect(JSON.stringify(seen, (_, value) => (value === undefined || Number.isNaN(value) ? "broken" : value))).not.toContain("broken");
}

test("object paths holds its columns", () => {
  const columns = Object.fromEntries(
    Object.entries(pathsFormat.columns).map(([name, type]) => [
      name,
      type === "u8" ? Uint8Array.of(1) : type === "u16" ? Uint16Array.of(2) : Uint32Array.of(3),
    ]),
  );
  expect(() => encodeColumns(pathsFormat, columns as unknown as Columns<typeof pathsFormat.columns>)).not.toThrow();
});
